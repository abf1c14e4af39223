/* heap/heap.c: a thread ends while another frees its blocks and a third one adopts its slab. */
#include "pages/range.h"
#include "scenes.h"

enum { BLOCKS = 3 };

static hak_heap *ending, *adopting;
static hak_slab *slab;
static void *blocks[BLOCKS], *unused;

static void begin(void) {
    ending = scene_heap(blocks, BLOCKS);
    slab = hak_run_of(blocks[0]);
    adopting = hak_heap_obtain();
    unused = blocks[BLOCKS - 1];
}

static void ends(void) {
    hak_slab_put(ending, slab, unused);
    hak_drain(ending);
    hak_heap_leave(ending, false);
}

static void frees(void) {
    hak_chains chains = {0};
    for (unsigned i = 0; i < BLOCKS - 1; i++) {
        scene_use(blocks[i]);
        hak_chains_add_run(&chains, hak_owner_of(blocks[i]), &blocks[i], 1);
    }
    hak_chains_send(&chains);
}

/* It finds the slab, or makes one. */
static void adopts(void) {
    void *block = NULL;
    hak_slab *mine = hak_heap_slab(adopting, scene_class());
    MODEL_CHECK(mine != NULL && hak_slab_take(adopting, mine, &block, 1) == 1);
    scene_use(block);
    hak_slab_put(adopting, mine, block);
}

/* What comes back to the ended heap travels on to the new owner. */
static void end(void) {
    void *found[BLOCKS];
    hak_drain(ending);
    hak_drain(adopting);
    size_t count = scene_empty(ending, found) + scene_empty(adopting, found);
    MODEL_CHECK(slab->used == count && count == BLOCKS - 1);
    MODEL_CHECK(hak_slab_is_valid(slab));
}

const scenario scenario_heaps = {
    "heaps", "a thread ends, one frees its blocks, one adopts its slab",
    begin,   {ends, frees, adopts},
    end,     1 << MODEL_NO_RELEASE | 1 << MODEL_NO_ACQUIRE,
    0};
