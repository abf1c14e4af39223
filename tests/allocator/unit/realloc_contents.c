/* realloc keeps the contents over every border: between classes, small to middle, middle to large,
 * and inside the large sizes where pages move by mremap. */
#include <malloc.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static void *resized(void *block, size_t old_size, size_t new_size, uint64_t seed) {
    block = realloc(block, new_size);
    CHECK_THAT(block, "realloc to %zu", new_size);
    CHECK(malloc_usable_size(block) >= new_size);
    CHECK_THAT(pattern_holds(block, least(old_size, new_size), seed), "from %zu to %zu", old_size,
               new_size);
    pattern_fill(block, new_size, seed);
    return block;
}

static void byte_by_byte(void) {
    void *block = malloc(1);
    pattern_fill(block, 1, 1);
    for (size_t size = 2; size <= 6000; size++)
        block = resized(block, size - 1, size, 1);
    for (size_t size = 6000; size > 1; size--)
        block = resized(block, size, size - 1, 1);
    free(block);
}

static void over_every_border(void) {
    for (size_t size = 16; size <= (size_t)8 << 20; size *= 2) {
        for (size_t from = size - 1; from <= size + 1; from++) {
            for (size_t to = size / 4; to <= size * 4; to += size / 2 + 3) {
                void *block = malloc(from);
                pattern_fill(block, from, from);
                free(resized(block, from, to, from));
            }
        }
    }
}

static void random_walk(void) {
    Random random = random_from(5);
    size_t size = 1;
    void *block = malloc(size);
    pattern_fill(block, size, 9);
    for (int i = 0; i < 3000; i++) {
        size_t next = random_size(&random, 22) + 1;
        block = resized(block, size, next, 9);
        size = next;
    }
    free(block);
}

/* Neighbours make sure that growing does not run over what lies behind. */
static void large_among_neighbours(void) {
    enum { COUNT = 8, STEPS = 40 };
    void *blocks[COUNT];
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = (size_t)300000 + i;
        blocks[i] = malloc(sizes[i]);
        pattern_mark(blocks[i], sizes[i], i);
    }
    Random random = random_from(8);
    for (int step = 0; step < STEPS * COUNT; step++) {
        size_t i = random_below(&random, COUNT);
        size_t next = 100000 + random_below(&random, 12 << 20);
        CHECK_THAT(pattern_marked(blocks[i], sizes[i], i), "block %zu of %zu", i, sizes[i]);
        blocks[i] = realloc(blocks[i], next);
        CHECK(blocks[i] && pattern_holds(blocks[i], 256, i));
        pattern_mark(blocks[i], next, i);
        sizes[i] = next;
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(pattern_marked(blocks[i], sizes[i], i));
        free(blocks[i]);
    }
}

static void to_a_gibibyte_and_back(void) {
    size_t size = 1 << 20;
    unsigned char *block = malloc(size);
    pattern_fill(block, size, 4);
    for (size_t next = size / 2 * 3; next <= (size_t)1 << 30; next = next / 2 * 3) {
        block = realloc(block, next);
        CHECK_THAT(block && pattern_holds(block, size, 4), "at %zu", next);
        block[next - 1] = 1;
    }
    block = realloc(block, size);
    CHECK(block && pattern_holds(block, size, 4));
    CHECK(malloc_usable_size(block) < size * 2);
    free(block);
}

int main(void) {
    byte_by_byte();
    over_every_border();
    random_walk();
    large_among_neighbours();
    to_a_gibibyte_and_back();
    return 0;
}
