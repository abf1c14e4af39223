/* Threads end while their blocks live on: others check, grow and free them. The memory of the ended
 * threads is used again, and malloc_trim gives it back when all is freed. */
#include <malloc.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum {
    BLOCKS = 2000,
    WAVES = 60,
    WARM = 10,
    PARALLEL = 4,
    GROWTH_KIB = 48 * 1024,
    LEFT_KIB = 4 * 1024
};

typedef struct {
    void *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    uint64_t seed;
} Legacy;

static Legacy legacies[PARALLEL];

static void *bequeath(void *argument) {
    Legacy *legacy = argument;
    Random random = random_from(legacy->seed);
    for (int i = 0; i < BLOCKS; i++) {
        legacy->sizes[i] = random_size(&random, i % 50 ? 10 : 17);
        legacy->blocks[i] = malloc(legacy->sizes[i]);
        CHECK(legacy->blocks[i]);
        pattern_mark(legacy->blocks[i], legacy->sizes[i], legacy->seed + (uint64_t)i);
    }
    return NULL;
}

static void *inherit(void *argument) {
    Legacy *legacy = argument;
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_THAT(pattern_marked(legacy->blocks[i], legacy->sizes[i], legacy->seed + (uint64_t)i),
                   "block %d of %zu", i, legacy->sizes[i]);
        if (i % 3 == 0)
            legacy->blocks[i] = realloc(legacy->blocks[i], legacy->sizes[i] * 2 + 1);
        free(legacy->blocks[i]);
    }
    return NULL;
}

/* Everything is freed in the end, half of the waves by new threads and half by the main thread. */
static void wave(unsigned number) {
    for (unsigned i = 0; i < PARALLEL; i++)
        legacies[i].seed = number * 1000 + i;
    threads_run(PARALLEL, bequeath, legacies, sizeof *legacies);
    if (number % 2) {
        threads_run(PARALLEL, inherit, legacies, sizeof *legacies);
        return;
    }
    for (int i = 0; i < PARALLEL; i++)
        inherit(&legacies[i]);
}

int main(void) {
    size_t at_start = rss_kib();
    for (unsigned i = 0; i < WARM; i++)
        wave(i);
    size_t before = rss_kib();
    for (unsigned i = 0; i < WAVES; i++)
        wave(i);
    invariants_hold();
    CHECK_THAT(rss_kib() <= before + GROWTH_KIB, "RSS %zu -> %zu KiB", before, rss_kib());
    malloc_trim(0);
    CHECK_THAT(rss_kib() <= at_start + LEFT_KIB, "RSS %zu KiB, %zu KiB after malloc_trim", at_start,
               rss_kib());
    return 0;
}
