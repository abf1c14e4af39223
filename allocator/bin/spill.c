#include "base/classes.h"
#include "base/fatal.h"
#include "bin/bin.h"
#include "bin/give.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"
#include "magazine/mode.h"
#include "pages/range.h"
#include "slab/slab.h"

#include <string.h>

/* A full magazine may grow to half of the blocks that the slab of its newest block ever handed out;
 * for blocks that come home, to all of them. */
enum { TO_ROOM = 2 };

/* ---- depth ---- */

static bool is_small(unsigned cls) {
    return hak_classes[cls].size <= HAK_SMALL_MAX;
}

/* 1 / `share` of the usual depth, at least one slot. */
static unsigned part_of(unsigned cls, unsigned share) {
    return (hak_classes[cls].depth + share - 1) / share;
}

/* How many blocks a magazine keeps when those that pass through it belong to other heaps: few, as
 * their owners make new ones while they lie here. */
static unsigned few_of(unsigned cls) {
    return part_of(cls, HAK_FEW_SHARE);
}

/* The usual depth, once the class has filled a slab; until then 1 / `share` of the blocks that the
 * slab ever handed out. Of two threads that send each other some dozens of blocks, one always frees
 * a little more than it hands out. With the usual depth its magazine would gather hundreds, and the
 * other thread would make new ones. */
static unsigned fair_depth(const hak_slab *slab, unsigned share) {
    unsigned usual = hak_classes[slab->cls].depth, part = slab->carved / share;
    return slab->carved == hak_classes[slab->cls].capacity || part > usual ? usual : part;
}

static bool may_grow(const hak_heap *heap, unsigned cls, const void *newest) {
    return newest != NULL && !hak_mode_sheds(heap, cls) &&
           heap->bins[cls].depth < hak_classes[cls].depth &&
           hak_owner_of(newest) == hak_owner_word(heap, cls);
}

/* A full magazine becomes deeper, up to its usual depth, if its newest block is the heap's own. */
static bool grow(hak_heap *heap, unsigned cls, unsigned share) {
    const void *newest = hak_magazine_newest(heap, cls);
    if (!may_grow(heap, cls, newest))
        return false;
    unsigned fair = fair_depth(hak_run_of(newest), share);
    if (fair <= heap->bins[cls].depth)
        return false;
    hak_magazine_set_depth(heap, cls, fair);
    return true;
}

/* ---- the magazine is full ---- */

void hak_bin_flush(hak_heap *heap, unsigned cls) {
    hak_disarm(heap, cls);
    hak_magazine_lay_down(heap, cls);
    hak_give_back(heap, cls, heap->bins[cls].bottom + 1, hak_magazine_count(heap, cls));
    hak_magazine_set_top(heap, cls, heap->bins[cls].bottom);
}

static void flush_and_set_depth(hak_heap *heap, unsigned cls, unsigned depth) {
    hak_bin_flush(heap, cls);
    hak_magazine_shrink(heap, cls, 0);
    hak_magazine_set_depth(heap, cls, depth);
}

/* A thread that frees what others allocate hardly needs a magazine: that only gathers blocks for
 * the way home. One that sheds hands nothing out: it gets a step less than the usual depth. In the
 * order of their addresses only small blocks are faster: they share lines and system pages. */
static void note_spill(hak_heap *heap, unsigned cls, size_t blocks, hak_given given) {
    if (given.remote > blocks / 2) {
        hak_mode_note(heap, cls, HAK_BEGAN_ANEW);
        flush_and_set_depth(heap, cls, few_of(cls));
        return;
    }
    heap->bins[cls].in_runs = is_small(cls) && given.runs * HAK_LONG_RUN < blocks;
    if (hak_mode_gave_back(heap, cls, blocks)) {
        flush_and_set_depth(heap, cls, part_of(cls, HAK_DEPTH_STEP));
        hak_slab_release_empty(heap, cls);
    }
}

/* One that gathered blocks of other heaps before, and does so again. */
static bool gathers(const hak_heap *heap, unsigned cls) {
    const void *newest = hak_magazine_newest(heap, cls);
    return heap->bins[cls].depth <= few_of(cls) && newest != NULL &&
           hak_owner_of(newest) != hak_owner_word(heap, cls);
}

/* Whether all blocks leave, and not the older half: the class sheds, or the thread frees run after
 * run of more than the cache holds, or the magazine gathers, and one chain takes all of them. */
static bool gives_all(const hak_heap *heap, unsigned cls) {
    return hak_mode_sheds(heap, cls) || gathers(heap, cls) ||
           (heap->crowded && hak_mode_has_spilled(heap, cls) && heap->bins[cls].in_runs);
}

/*   | oldest ......... | given back: half the usual depth | newest: the other half |
 *
 * The oldest of a magazine deeper than usual stay where they are, so that a free never has
 * to move or to give back more than a few hundred blocks. Above 2 KiB no magazine holds more than
 * these, and half of all it holds goes back: the way to the slabs costs the same for few blocks. */
static void spill(hak_heap *heap, unsigned cls) {
    size_t usual = hak_classes[cls].depth, count = hak_magazine_count(heap, cls);
    size_t most = is_small(cls) && count > usual ? usual : count;
    size_t newest = gives_all(heap, cls) ? 0 : most / 2;
    size_t blocks = most - newest;
    void **from = hak_magazine_lay_down(heap, cls) + 1 - most;
    hak_given given = hak_give_back(heap, cls, from, blocks);
    memmove(from, from + blocks, newest * sizeof *from);
    hak_magazine_set_top(heap, cls, hak_magazine_top(heap, cls) - blocks);
    note_spill(heap, cls, blocks, given);
}

/* A cold class's magazine has no slots until the first block comes. */
static void make_room(hak_heap *heap, unsigned cls) {
    if (heap->bins[cls].depth == 0)
        hak_magazine_set_depth(heap, cls, few_of(cls));
    else if (!grow(heap, cls, TO_ROOM))
        spill(heap, cls);
}

void hak_bin_give(hak_heap *heap, unsigned cls, void *block) {
    if (HAK_UNLIKELY(hak_magazine_newest(heap, cls) == block))
        hak_fatal("double free", "free", block, "it is the block freed last");
    if (hak_magazine_top(heap, cls) == heap->end[cls])
        make_room(heap, cls);
    hak_magazine_put(heap, cls, block);
}

void hak_bin_grow_for_home(hak_heap *heap, unsigned cls) {
    if (!hak_is_armed(heap, cls))
        grow(heap, cls, 1);
}
