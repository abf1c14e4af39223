/* Threads with random requests, checked against a model: what each block must contain.
 *
 * Slots are shared, so that blocks are born in one thread and grown or freed in another; a lock
 * per stripe of slots keeps each step whole.
 * The seeds are fixed: the requests of each thread repeat, only their interleaving differs.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { THREADS = 4, SLOTS = 4000, LOCKS = 64, OPERATIONS = 250000 / TEST_SHARE, HUGE_EVERY = 2048 };

typedef struct {
    void *block;
    size_t size;
    uint64_t seed;
} Slot;

static Slot slots[SLOTS];
static pthread_mutex_t locks[LOCKS];

static size_t next_size(Random *random) {
    if (random_below(random, HUGE_EVERY) == 0)
        return random_size(random, 22);
    return random_size(random, random_below(random, 8) ? 10 : 16);
}

static void born(Slot *slot, Random *random) {
    slot->size = next_size(random);
    slot->seed = random_next(random);
    switch (random_below(random, 5)) {
    case 0:
        slot->block = calloc(1, slot->size);
        CHECK_THAT(slot->block && all_zero(slot->block, slot->size), "calloc of %zu", slot->size);
        break;
    case 1: {
        size_t alignment = (size_t)8 << random_below(random, 10);
        CHECK(posix_memalign(&slot->block, alignment, slot->size) == 0);
        CHECK((uintptr_t)slot->block % alignment == 0);
        break;
    }
    default:
        slot->block = malloc(slot->size);
    }
    CHECK(slot->block && malloc_usable_size(slot->block) >= slot->size);
    pattern_mark(slot->block, slot->size, slot->seed);
}

static void grown(Slot *slot, Random *random) {
    size_t size = next_size(random) + 1;
    size_t kept = size < slot->size ? size : slot->size;
    CHECK(pattern_marked(slot->block, slot->size, slot->seed));
    slot->block = realloc(slot->block, size);
    CHECK(slot->block);
    CHECK_THAT(pattern_holds(slot->block, kept < 256 ? kept : 256, slot->seed), "%zu to %zu",
               slot->size, size);
    slot->size = size;
    pattern_mark(slot->block, size, slot->seed);
}

static void died(Slot *slot) {
    CHECK_THAT(pattern_marked(slot->block, slot->size, slot->seed), "block %p of %zu bytes",
               slot->block, slot->size);
    free(slot->block);
    slot->block = NULL;
}

static void step(Slot *slot, Random *random) {
    if (!slot->block)
        born(slot, random);
    else if (random_below(random, 4) == 0)
        grown(slot, random);
    else
        died(slot);
}

static void *work(void *seed) {
    Random random = random_from(*(const uint64_t *)seed);
    for (int i = 0; i < OPERATIONS; i++) {
        size_t index = random_below(&random, SLOTS);
        pthread_mutex_lock(&locks[index % LOCKS]);
        step(&slots[index], &random);
        pthread_mutex_unlock(&locks[index % LOCKS]);
    }
    return NULL;
}

int main(void) {
    uint64_t seeds[THREADS] = {101, 202, 303, 404};
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (int round = 0; round < 2; round++) {
        threads_run(THREADS, work, seeds, sizeof *seeds);
        invariants_hold();
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].block)
            died(&slots[i]);
    invariants_hold();
    return 0;
}
