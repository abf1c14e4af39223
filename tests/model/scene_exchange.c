/* bin/transfer.c: what threads leave there is found once. */
#include "bin/transfer.h"
#include "scenes.h"

enum { SIZE = 4096, EACH = 2, THREADS = 2 };

static long memory[THREADS][EACH][8];
static void *found[2 * THREADS * EACH];
static size_t left, taken;
static size_t put[THREADS];

static unsigned exchanged(void) {
    unsigned cls = scene_class();
    while (hak_classes[cls].size < SIZE)
        cls++;
    return cls;
}

static void begin(void) {}

static void leave(unsigned thread) {
    void *blocks[EACH];
    for (unsigned i = 0; i < EACH; i++) {
        blocks[i] = memory[thread][i];
        scene_use(blocks[i]);
    }
    put[thread] = hak_transfer_put(exchanged(), blocks, EACH);
}

static void first(void) {
    leave(0);
}

static void second(void) {
    leave(1);
}

static void take(void) {
    taken = hak_transfer_take(exchanged(), found, 3);
    for (size_t i = 0; i < taken; i++)
        scene_use(found[i]);
}

static void end(void) {
    void *all[THREADS * EACH];
    size_t count = 0;
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (unsigned i = 0; i < put[thread]; i++)
            all[count++] = memory[thread][i];
    left = hak_transfer_take(exchanged(), found + taken, THREADS * EACH);
    MODEL_CHECK(taken + left == count && scene_same(all, found, count));
}

const scenario scenario_exchange = {
    "exchange", "two threads leave blocks, a third one takes some", begin, {first, second, take},
    end,        1 << MODEL_NO_RELEASE | 1 << MODEL_NO_ACQUIRE,      0};
