#include "bin/bin.h"

#include "base/bits.h"
#include "base/classes.h"
#include "base/fatal.h"
#include "bin/drain.h"
#include "bin/give.h"
#include "bin/transfer.h"
#include "heap/heap.h"
#include "heap/seat.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"
#include "magazine/mode.h"
#include "pages/range.h"
#include "slab/slab.h"

#include <string.h>

enum {
    SHALLOW = 32,    /* a magazine with so few slots is refilled by half of them */
    FEW = 2,         /* blocks of other threads that a magazine keeps at least */
    LONG_RUN = 4,    /* blocks of one slab in a row, in the mean, that are cheap to give back */
    SAMPLE = 8,      /* blocks of a magazine that are looked at before it grows */
    TO_ROOM = 2,     /* a magazine may grow to a share of what its heap handed out: to this one, */
    TO_HOME = 1,     /* or to all of it for the sake of blocks that come home */
    FINEST = 64,     /* the coarser class that a thread begins with has at least this size ... */
    COARSEST = 1024, /* ... and at most this: several of them fit into a page of the system */
};

/* ---- depth ---- */

static bool sheds(const hak_heap *heap, unsigned cls) {
    return heap->bins[cls].mode == HAK_SHEDDING;
}

/* Blocks of this heap, since the magazine ran empty last. */
static bool gave_back(const hak_heap *heap, unsigned cls) {
    return heap->bins[cls].mode == HAK_SPILLED || heap->bins[cls].mode == HAK_SERVED;
}

/* What a magazine keeps through which blocks of other heaps pass: more than fill some cache lines
 * would be missed elsewhere. */
static unsigned few_of(unsigned cls) {
    unsigned few = hak_classes[cls].depth / HAK_FEW_SHARE;
    return few > FEW ? few : FEW;
}

/* The usual depth once the class has filled a slab. Until then it follows the blocks in use: of two
 * threads that send each other some dozens, one always frees a little more than it hands out; if
 * its magazine had the usual depth, it would gather hundreds, and the other would make new ones. */
static unsigned fair_depth(const hak_slab *slab, unsigned share) {
    unsigned usual = hak_classes[slab->cls].depth, part = slab->carved / share;
    return slab->carved == hak_classes[slab->cls].capacity || part > usual ? usual : part;
}

/* All but one of some blocks of it, and the newest. */
static bool holds_own(hak_heap *heap, unsigned cls) {
    hak_magazine_lay_down(heap, cls);
    uintptr_t own = hak_owner_word(heap, cls);
    size_t count = hak_magazine_count(heap, cls), foreign = 0;
    for (size_t i = 1; i <= count; i += 1 + count / SAMPLE)
        foreign += hak_owner_of(heap->bins[cls].bottom[i]) != own;
    return foreign <= 1 && hak_owner_of(hak_magazine_newest(heap, cls)) == own;
}

/* A full magazine becomes deeper, up to its usual depth, if its blocks are the heap's own. */
static bool grow(hak_heap *heap, unsigned cls, unsigned share) {
    if (sheds(heap, cls) || heap->bins[cls].depth >= hak_classes[cls].depth ||
        !holds_own(heap, cls))
        return false;
    unsigned fair = fair_depth(hak_run_of(hak_magazine_newest(heap, cls)), share);
    if (fair <= heap->bins[cls].depth)
        return false;
    hak_magazine_set_depth(heap, cls, fair);
    return true;
}

/* ---- the magazine is empty ---- */

static void take_from_slabs(hak_heap *heap, unsigned cls, size_t want) {
    while (want > 0 && heap->bins[cls].partial != NULL) {
        void **top = hak_magazine_lay_down(heap, cls);
        size_t taken = hak_slab_take(heap, heap->bins[cls].partial, top + 1, want);
        hak_magazine_set_top(heap, cls, top + taken);
        want -= taken;
    }
}

/* A class that is used rarely takes few blocks; each refill doubles the next, up to a share of the
 * magazine (half of a shallow one): blocks that nobody asked for are memory that nobody else can
 * use. */
static size_t next_batch(hak_heap *heap, unsigned cls) {
    unsigned depth = hak_classes[cls].depth;
    unsigned most = depth / (depth > SHALLOW ? HAK_BATCH_SHARE : 2);
    unsigned batch =
        heap->bins[cls].batch < HAK_FIRST_BATCH ? HAK_FIRST_BATCH : heap->bins[cls].batch;
    heap->bins[cls].batch = (uint16_t)(batch < most / 2 ? batch * 2 : most);
    return batch < most ? batch : most;
}

/* Takes what came home, or what other threads have too much of. False: nothing. */
static bool take_from_others(hak_heap *heap, unsigned cls) {
    hak_drain(heap);
    if (hak_magazine_newest(heap, cls) != NULL)
        return true;
    void **top = hak_magazine_lay_down(heap, cls);
    top += hak_transfer_take(cls, top + 1, (heap->bins[cls].depth + 1u) / 2);
    hak_magazine_set_top(heap, cls, top);
    return hak_magazine_newest(heap, cls) != NULL;
}

/* Puts at least one block into the empty magazine. False: out of memory. */
static bool fill(hak_heap *heap, unsigned cls) {
    if (gave_back(heap, cls))
        hak_magazine_deepen(heap, cls);
    hak_mode_note(heap, cls, HAK_RAN_EMPTY);
    if (take_from_others(heap, cls))
        return true;
    if (hak_heap_slab(heap, cls) == NULL)
        return false;
    size_t batch = next_batch(heap, cls);
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
        hak_magazine_set_top(heap, cls, heap->top[cls] - 1);
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

/* Two sizes of each power of two: 64, 96, 128, 192, 256, 384 ... */
static size_t coarse_size(size_t size) {
    return size <= FINEST ? FINEST
                          : hak_round_up(size, (size_t)1 << (hak_highest_bit(size - 1) - 1));
}

/* The class that stands for cls while few blocks of it are wanted; its blocks are aligned at least
 * as much. cls itself where nothing would be won. */
static unsigned coarser(unsigned cls) {
    size_t size = hak_classes[cls].size, unit = size & -size;
    unsigned other = cls;
    if (size > COARSEST)
        return cls;
    while (hak_classes[other].size < coarse_size(size) || hak_classes[other].size % unit != 0)
        if (++other == HAK_CLASSES)
            return cls;
    return other;
}

/* The first block of a slab costs a page of the system. A thread that wants little would pay that
 * for each size it uses, and a process with a hundred such threads would pay it a hundred times: so
 * it begins with few sizes, and gets a class of its own for what it uses more often. */
static void *take_coarser(hak_heap *heap, unsigned cls) {
    if (!begins(heap, cls))
        return NULL;
    unsigned other = coarser(cls);
    if (other == cls)
        return NULL;
    heap->bins[cls].batch++;
    hak_disarm(heap, other);
    return take(heap, other);
}

/* A class that sheds takes a new slab although its magazine has blocks: theirs run empty. */
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
    if (hak_mode_sheds_for_malloc(heap, cls))
        block = take_from_oldest(heap, cls);
    else if (hak_magazine_newest(heap, cls) == NULL)
        block = take_coarser(heap, cls);
    return block != NULL ? block : take(heap, cls);
}

/* ---- the magazine is full ---- */

void hak_bin_flush(hak_heap *heap, unsigned cls) {
    hak_disarm(heap, cls);
    hak_magazine_lay_down(heap, cls);
    hak_give_back(heap, cls, heap->bins[cls].bottom + 1, hak_magazine_count(heap, cls));
    hak_magazine_set_top(heap, cls, heap->bins[cls].bottom);
}

/* Most of what it gave back were blocks of other heaps. A thread that frees what others allocate
 * will hardly need it: it only gathers blocks for the way home. */
static void keep_few(hak_heap *heap, unsigned cls) {
    hak_bin_flush(heap, cls);
    hak_magazine_set_depth(heap, cls, few_of(cls));
}

/* A magazine that hands nothing out needs little depth. */
static void begin_to_shed(hak_heap *heap, unsigned cls) {
    hak_bin_flush(heap, cls);
    hak_magazine_shrink(heap, cls, 0);
    hak_magazine_set_depth(heap, cls, hak_mode_shed_depth(cls));
    hak_slab_release_empty(heap, cls);
}

static void note_spill(hak_heap *heap, unsigned cls, size_t blocks, hak_given given) {
    if (given.foreign > blocks / 2) {
        hak_mode_note(heap, cls, HAK_PASSED_ON);
        keep_few(heap, cls);
    } else {
        heap->bins[cls].in_runs = given.runs * LONG_RUN < blocks;
        if (hak_mode_gave_back(heap, cls, blocks))
            begin_to_shed(heap, cls);
    }
}

/* One that sheds, or run after run of more than the cache holds, gives all of them at once. */
static bool gives_all(const hak_heap *heap, unsigned cls) {
    return sheds(heap, cls) || (heap->crowded && gave_back(heap, cls) && heap->bins[cls].in_runs);
}

/* Only where blocks of several threads come together: some are the heap's own, others are not.
 * Blocks of another thread alone go back to it. Returns how many of the first went. */
static size_t leave_for_others(const hak_heap *heap, unsigned cls, void *const *blocks,
                               size_t count) {
    size_t own = 0;
    if (hak_classes[cls].size < HAK_TRANSFER_LEAST || sheds(heap, cls))
        return 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t owner = hak_owner_of(blocks[i]);
        if (hak_class_of_owner(owner) != cls)
            return 0; /* hak_give_back says what it is */
        own += owner == hak_owner_word(heap, cls);
    }
    return own > 0 && own < count ? hak_transfer_put(cls, blocks, count) : 0;
}

/*   | oldest ......... | given back: half the usual depth | newest: the other half |
 *
 * The oldest of a magazine deeper than usual stay where they are, so that a free never has
 * to move or to give back more than a few hundred blocks. */
static void spill(hak_heap *heap, unsigned cls) {
    size_t usual = hak_classes[cls].depth, count = hak_magazine_count(heap, cls);
    size_t most = count < usual ? count : usual;
    size_t newest = gives_all(heap, cls) ? 0 : most / 2;
    size_t blocks = most - newest;
    void **from = hak_magazine_lay_down(heap, cls) + 1 - most;
    size_t left = leave_for_others(heap, cls, from, blocks);
    hak_given given = hak_give_back(heap, cls, from + left, blocks - left);
    memmove(from, from + blocks, newest * sizeof *from);
    hak_magazine_set_top(heap, cls, heap->top[cls] - blocks);
    note_spill(heap, cls, blocks - left, given);
}

void hak_bin_give(hak_heap *heap, unsigned cls, void *block) {
    if (HAK_UNLIKELY(hak_magazine_newest(heap, cls) == block))
        hak_fatal("double free", "free", block, "it is the block freed last");
    if (heap->top[cls] == heap->end[cls] && !grow(heap, cls, TO_ROOM))
        spill(heap, cls);
    hak_magazine_put(heap, cls, block);
}

void hak_bin_take_home(hak_heap *heap, unsigned cls, void *block) {
    if (hak_is_armed(heap, cls) || (heap->top[cls] == heap->end[cls] && !grow(heap, cls, TO_HOME)))
        hak_slab_put(heap, hak_run_of(block), block);
    else
        hak_magazine_put(heap, cls, block);
}
