/* A program that lowers RLIMIT_AS while it runs, below what it has: every request is answered, by a
 * block or by ENOMEM, nothing crashes, and what is freed can be had again. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { SLOTS = 5000, STEPS = 150000, WARM = 20000 };

typedef struct {
    void *block;
    size_t size;
} Slot;

static Slot slots[SLOTS];

static void set_limit(size_t kib) {
    struct rlimit space;
    CHECK(getrlimit(RLIMIT_AS, &space) == 0);
    space.rlim_cur = (rlim_t)kib * 1024;
    CHECK(setrlimit(RLIMIT_AS, &space) == 0);
}

static void *requested(void *old, size_t size, Random *random) {
    errno = 0;
    void *block = old ? realloc(old, size) : NULL;
    if (!old)
        block = random_below(random, 3) ? malloc(size) : memalign(256, size);
    CHECK_THAT(block || errno == ENOMEM, "errno %d for %zu", errno, size);
    return block;
}

static void step(Slot *slot, Random *random) {
    size_t size = random_size(random, 22) + 1;
    if (slot->block) {
        CHECK_THAT(pattern_marked(slot->block, slot->size, slot->size), "%zu", slot->size);
        if (random_below(random, 2)) {
            free(slot->block);
            slot->block = NULL;
            return;
        }
    }
    void *block = requested(slot->block, size, random);
    if (block) {
        *slot = (Slot){block, size};
        pattern_mark(block, size, size);
    }
}

static void work(Random *random, int steps) {
    for (int i = 0; i < steps; i++)
        step(&slots[random_below(random, SLOTS)], random);
}

/* Asks until it is refused, which must happen before the limit is passed. */
static void feel_the_limit(size_t size) {
    size_t limit = status_kib("VmSize:") * 1024, total = 0;
    void **last = NULL, **block;
    while ((block = malloc(size))) {
        *block = (void *)last;
        last = block;
        total += size;
        CHECK_THAT(total <= limit, "%zu bytes, and the limit is %zu", total, limit);
    }
    CHECK_THAT(errno == ENOMEM, "errno %d", errno);
    while (last) {
        block = (void **)*last;
        free((void *)last);
        last = block;
    }
}

int main(void) {
    hang_limit();
    Random random = random_from(17);
    work(&random, WARM);
    set_limit(status_kib("VmSize:") + 8 * 1024);
    work(&random, STEPS);
    set_limit(status_kib("VmSize:") / 2);
    work(&random, STEPS / 4);
    feel_the_limit((size_t)32 << 20);
    for (int i = 0; i < SLOTS; i++)
        free(slots[i].block);
    void *block = malloc(1 << 20);
    CHECK_THAT(block, "nothing left after all was freed");
    free(block);
    return 0;
}
