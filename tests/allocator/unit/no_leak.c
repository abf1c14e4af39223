/* The same work over and over does not grow the process, whatever the sizes and the order. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/random.h"

enum { SLOTS = 3000, WARM_ROUNDS = 15, ROUNDS = 30, ALLOWED_GROWTH_KIB = 1024 };

static void *slots[SLOTS];

static void allocate(Random *random, int slot) {
    size_t size = random_size(random, 15);
    switch (random_below(random, 4)) {
    case 0:
        slots[slot] = malloc(size);
        break;
    case 1:
        slots[slot] = calloc(1, size);
        break;
    case 2:
        slots[slot] = realloc(malloc(size / 3 + 1), size + 1);
        break;
    default:
        slots[slot] = memalign((size_t)16 << random_below(random, 9), size);
    }
    CHECK(slots[slot]);
    memset(slots[slot], 1, size);
}

static void work(uint64_t seed) {
    Random random = random_from(seed);
    for (int slot = 0; slot < SLOTS; slot++)
        allocate(&random, slot);
    for (int i = 0; i < 5 * SLOTS; i++) {
        int slot = (int)random_below(&random, SLOTS);
        free(slots[slot]);
        allocate(&random, slot);
    }
    for (int slot = 0; slot < SLOTS; slot++)
        free(slots[slot]);
    void *large = realloc(malloc(3 << 20), 9 << 20);
    memset(large, 1, 9 << 20);
    free(large);
}

/* What is left when everything free was given back: when a purge came last does not matter then. */
static size_t rss_left_kib(void) {
    malloc_trim(0);
    return rss_kib();
}

int main(void) {
    for (int round = 0; round < WARM_ROUNDS; round++)
        work((uint64_t)round);
    size_t before = rss_left_kib(), size_before = status_kib("VmSize:");
    for (int round = 0; round < ROUNDS; round++)
        work((uint64_t)round);
    size_t after = rss_left_kib(), size_after = status_kib("VmSize:");
    say("RSS %zu -> %zu KiB, address space %zu -> %zu KiB", before, after, size_before, size_after);
    CHECK_THAT(after <= before + ALLOWED_GROWTH_KIB, "RSS %zu -> %zu KiB", before, after);
    CHECK_THAT(size_after <= size_before + 64 * 1024, "VmSize %zu -> %zu KiB", size_before,
               size_after);
    return 0;
}
