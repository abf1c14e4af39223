#include "base/bits.h"
#include "base/classes.h"
#include "bin/bin.h"
#include "heap/heap.h"
#include "heap/seat.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"
#include "magazine/mode.h"
#include "slab/slab.h"

/* ---- the magazine is empty ---- */

static void take_from_slabs(hak_heap *heap, unsigned cls, size_t want) {
    while (want > 0 && heap->bins[cls].partial != NULL) {
        void **top = hak_magazine_lay_down(heap, cls);
        size_t taken = hak_slab_take(heap, heap->bins[cls].partial, top + 1, want);
        hak_magazine_set_top(heap, cls, top + taken);
        want -= taken;
    }
}

/* A share of the magazine, but at least the first batch or half of the magazine, whichever is
 * less. */
static unsigned most_at_once(unsigned depth) {
    unsigned share = depth / HAK_BATCH_SHARE, least = (depth + 1) / 2;
    least = least < HAK_FIRST_BATCH ? least : HAK_FIRST_BATCH;
    return share > least ? share : least;
}

/* A class that is used rarely takes few blocks; each refill doubles the next, up to a share of the
 * magazine: blocks that nobody asked for are memory that nobody else can use. */
static unsigned next_batch(hak_bin *bin, unsigned depth) {
    unsigned most = most_at_once(depth);
    unsigned batch = bin->batch < HAK_FIRST_BATCH ? HAK_FIRST_BATCH : bin->batch;
    bin->batch = (uint16_t)(batch < most / 2 ? batch * 2 : most);
    return batch < most ? batch : most;
}

/* Takes back what others freed. False: no block of the class. */
static bool came_home(hak_heap *heap, unsigned cls) {
    hak_drain(heap);
    return hak_magazine_newest(heap, cls) != NULL;
}

/* Puts at least one block into the empty magazine. False: out of memory. */
static bool fill(hak_heap *heap, unsigned cls) {
    if (hak_mode_has_spilled(heap, cls))
        hak_magazine_deepen(heap, cls);
    hak_mode_note(heap, cls, HAK_BEGAN_ANEW);
    if (came_home(heap, cls))
        return true;
    if (hak_heap_slab(heap, cls) == NULL)
        return false;
    size_t batch = next_batch(&heap->bins[cls], hak_classes[cls].depth);
    if (batch > heap->bins[cls].depth)
        hak_magazine_set_depth(heap, cls, (unsigned)batch);
    take_from_slabs(heap, cls, batch);
    HAK_TALLY(heap, cls, refill);
    return true;
}

/* NULL when there is none. */
static void *take_newest(hak_heap *heap, unsigned cls) {
    void *block = hak_magazine_newest(heap, cls);
    if (block != NULL)
        hak_magazine_set_top(heap, cls, hak_magazine_top(heap, cls) - 1);
    return block;
}

void *hak_bin_take_alone(hak_heap *heap, unsigned cls) {
    void *block = NULL;
    hak_slab *slab = hak_heap_slab(heap, cls);
    if (slab != NULL)
        hak_slab_take(heap, slab, &block, 1);
    return block;
}

/* A thread that has used few blocks of the class so far. A process's first thread never counts as
 * one: it pays for its classes once, and each trip to a coarser one would cost it time. */
static bool begins(const hak_heap *heap, unsigned cls) {
    return heap->bins[cls].batch + 1 <= HAK_COARSE_BLOCKS && heap->bins[cls].partial == NULL &&
           !hak_seat_is_oldest(heap->seat);
}

/* The fast path leaves the last block in hand: who takes that one fills the magazine, too. */
static bool fills_after(const hak_heap *heap, unsigned cls) {
    return HAK_HAND && hak_magazine_newest(heap, cls) == NULL && !begins(heap, cls);
}

static void *take(hak_heap *heap, unsigned cls) {
    void *block = take_newest(heap, cls);
    if (block == NULL)
        return fill(heap, cls) ? take_newest(heap, cls) : NULL;
    if (fills_after(heap, cls))
        fill(heap, cls);
    return block;
}

/* ---- the first blocks of a class ---- */

/* A cache line, then two sizes of each power of two: 64, 96, 128, 192, 256, 384 ... */
static size_t coarse_size(size_t size) {
    return size <= HAK_CACHE_LINE
               ? HAK_CACHE_LINE
               : hak_round_up(size, (size_t)1 << (hak_highest_bit(size - 1) - 1));
}

/* Returns the coarser class that serves cls while few blocks of it are wanted; its blocks are
 * aligned at least as much. Returns cls itself above HAK_SMALL_MAX: two such blocks fill a system
 * page, so nothing would be won. */
static unsigned coarser(unsigned cls) {
    size_t size = hak_classes[cls].size;
    if (size > HAK_SMALL_MAX)
        return cls;
    unsigned other = hak_class_aligned(cls, HAK_CLASSES, coarse_size(size), size & -size);
    return other != HAK_CLASSES ? other : cls;
}

/* The first block of a slab costs a system page. A thread that wants little would pay that for each
 * size it uses, and a hundred such threads would pay it a hundred times. So a thread begins with
 * few sizes. What it uses more often gets a class of its own. */
static void *take_coarser(hak_heap *heap, unsigned cls) {
    if (!begins(heap, cls))
        return NULL;
    unsigned other = coarser(cls);
    if (other == cls)
        return NULL;
    heap->bins[cls].batch++;
    bool was_armed = hak_is_armed(heap, other);
    hak_disarm(heap, other);
    void *block = take(heap, other);
    if (was_armed)
        hak_arm_class(heap, other);
    return block;
}

/* A class that sheds takes from slabs, even new ones, before its magazine: the slabs of the blocks
 * there run empty. */
static void *take_from_oldest(hak_heap *heap, unsigned cls) {
    void *block = NULL;
    if (heap->bins[cls].partial == NULL)
        hak_drain(heap);
    hak_slab *first = hak_heap_slab(heap, cls);
    if (first != NULL)
        hak_slab_take(heap, first->prev, &block, 1);
    return block;
}

void *hak_bin_take(hak_heap *heap, unsigned cls) {
    void *block = NULL;
    if (hak_mode_note_malloc(heap, cls))
        block = take_from_oldest(heap, cls);
    else if (hak_magazine_newest(heap, cls) == NULL)
        block = take_coarser(heap, cls);
    return block != NULL ? block : take(heap, cls);
}
