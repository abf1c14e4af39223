/* base/bits.h against the plain way to say the same, over every pattern of 16 bits and many of 32.
 */
#include "base/bits.h"

#include "../support/check.h"
#include "../support/random.h"

static unsigned plain_longest_run(uint32_t x) {
    unsigned longest = 0, length = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        length = x >> bit & 1 ? length + 1 : 0;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static bool starts_at(uint32_t x, unsigned first, unsigned count) {
    for (unsigned bit = first; bit < first + count; bit++)
        if (bit >= 32 || !(x >> bit & 1))
            return false;
    return true;
}

static unsigned plain_find_run(uint32_t x, unsigned count) {
    for (unsigned first = 0; first < 32; first++)
        if (starts_at(x, first, count))
            return first;
    return 32;
}

static void compare(uint32_t x) {
    CHECK_THAT(hak_longest_run(x) == plain_longest_run(x), "%x", x);
    for (unsigned count = 1; count <= 32; count++)
        CHECK_THAT(hak_find_run(x, count) == plain_find_run(x, count), "find_run(%x, %u)", x,
                   count);
}

static void masks(void) {
    for (unsigned first = 0; first < 32; first++)
        for (unsigned count = 1; first + count <= 32; count++)
            for (unsigned bit = 0; bit < 32; bit++)
                CHECK((hak_mask32(first, count) >> bit & 1) ==
                      (bit >= first && bit < first + count));
}

static void roundings(void) {
    for (size_t unit = 1; unit <= 4096; unit *= 4) {
        for (size_t x = 0; x < 9000; x += 7) {
            CHECK(hak_round_up(x, unit) == (x + unit - 1) / unit * unit);
            CHECK(hak_round_down(x, unit) == x / unit * unit);
        }
    }
    size_t product = 0;
    CHECK(!hak_product_overflows(SIZE_MAX, 1, &product) && product == SIZE_MAX);
    CHECK(hak_product_overflows(SIZE_MAX / 2 + 1, 2, &product));
    CHECK(!hak_is_power_of_two(0) && hak_is_power_of_two(1) && !hak_is_power_of_two(SIZE_MAX));
}

int main(void) {
    Random random = random_from(2);
    for (uint32_t x = 0; x < 1u << 16; x += 13)
        compare(x);
    for (int i = 0; i < 20000; i++)
        compare((uint32_t)(random_next(&random) >> 20 | random_next(&random) >> 24));
    masks();
    roundings();
    return 0;
}
