/* Slabs of every class: each block is given once, lies in the slab, overlaps no other, and the
 * invariants hold while blocks go and come back in any order. */
#include "base/classes.h"
#include "slab/slab.h"
#include "thread/thread.h"
#include "pages/range.h"

#include <string.h>

#include "../support/check.h"
#include "../support/random.h"

enum { MOST_WANTED = 70 };
static void *blocks[HAK_SLAB_MAX_BLOCKS + MOST_WANTED]; /* room for more than there is */
static bool seen[HAK_SLAB_MAX_BLOCKS];

static size_t take_all(hak_heap *heap, hak_slab *slab, Random *random) {
    size_t count = 0;
    for (size_t got = 1; got > 0 && slab->used < hak_classes[slab->cls].capacity; count += got) {
        got = hak_slab_take(heap, slab, blocks + count, 1 + random_below(random, MOST_WANTED));
        CHECK(hak_slab_is_valid(slab));
    }
    return count;
}

static void each_block_once(const hak_slab *slab, size_t count) {
    const hak_class *class = &hak_classes[slab->cls];
    CHECK_THAT(count == class->capacity, "class %u: %zu blocks", slab->cls, count);
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++) {
        size_t offset = (uintptr_t)blocks[i] - slab->start, index = offset / class->size;
        CHECK(offset % class->size == 0 && index < class->capacity && !seen[index]);
        CHECK(hak_run_of(blocks[i]) == slab);
        CHECK(hak_run_of((char *)blocks[i] + class->size - 1) == slab);
        seen[index] = true;
    }
}

/* All but one of them: the last block keeps the slab. */
static void give_back(hak_heap *heap, hak_slab *slab, size_t count, Random *random) {
    for (size_t left = count; left > 1; left--) {
        size_t i = random_below(random, left);
        hak_slab_put(heap, slab, blocks[i]);
        blocks[i] = blocks[left - 1];
    }
    CHECK(slab->used == 1 && hak_slab_is_valid(slab));
}

static size_t put_scattered(hak_heap *heap, hak_slab *slab, void *const *from, size_t count) {
    return hak_slab_put_scattered(heap, slab->cls, from, count);
}

/* The same many at once. Each run ends where a block of another slab follows. */
static void give_back_many(hak_heap *heap, hak_slab *slab, size_t count, Random *random,
                           size_t (*put)(hak_heap *, hak_slab *, void *const *, size_t)) {
    for (size_t left = count; left > 1;) {
        size_t run = 1 + random_below(random, left - 1 < MOST_WANTED ? left - 1 : MOST_WANTED);
        void *behind = blocks[left];
        blocks[left] = &behind;
        CHECK(put(heap, slab, blocks + left - run, run + 1) == run);
        blocks[left] = behind;
        left -= run;
        CHECK(slab->used == left && hak_slab_is_valid(slab));
    }
}

static void give_back_in_runs(hak_heap *heap, hak_slab *slab, size_t count, Random *random) {
    give_back_many(heap, slab, count, random, hak_slab_put_run);
}

static void give_back_scattered(hak_heap *heap, hak_slab *slab, size_t count, Random *random) {
    give_back_many(heap, slab, count, random, put_scattered);
}

static void one_class(hak_heap *heap, unsigned cls, Random *random) {
    hak_slab *slab = hak_slab_make(heap, cls);
    CHECK(slab && slab->cls == cls && hak_slab_is_valid(slab));
    size_t count = take_all(heap, slab, random);
    each_block_once(slab, count);
    void (*const ways[])(hak_heap *, hak_slab *, size_t, Random *) = {give_back, give_back_in_runs,
                                                                      give_back_scattered};
    for (int round = 0; round < 6; round++) {
        ways[round % 3](heap, slab, count, random);
        void *kept = blocks[0];
        count = take_all(heap, slab, random);
        blocks[count++] = kept;
        each_block_once(slab, count);
    }
}

int main(void) {
    Random random = random_from(6);
    hak_heap *heap = hak_heap_self();
    CHECK(heap);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        one_class(heap, cls, &random);
    return 0;
}
