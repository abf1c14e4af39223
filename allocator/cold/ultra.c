#include "cold/ultra.h"

#include "base/bits.h"
#include "base/classes.h"
#include "base/fatal.h"
#include "cold/arm.h"
#include "cold/give.h"
#include "cold/heap.h"
#include "cold/magazine.h"
#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"

#include <string.h>

enum {
    SHALLOW = 32,    /* a magazine with so few slots is refilled by half of them */
    FEW = 2,         /* blocks of other threads that a magazine keeps at least */
    LONG_RUN = 4,    /* blocks of one slab in a row, in the mean, that are cheap to give back */
    FINEST = 64,     /* the coarser class that a thread begins with has at least this size ... */
    COARSEST = 1024, /* ... and at most this: several of them fit into a page of the system */
};

/* ---- the magazine is empty ---- */

static void take_from_slabs(hak_heap *heap, unsigned cls, size_t want) {
    while (want > 0 && heap->partial[cls] != NULL) {
        void **slots = heap->top[cls] + 1;
        size_t taken = hak_slab_take(heap, heap->partial[cls], slots, want);
        heap->top[cls] += taken;
        want -= taken;
    }
}

/* A class that is used rarely takes few blocks; each refill doubles the next, up to a share of the
 * magazine (half of a shallow one): blocks that nobody asked for are memory that nobody else can
 * use. */
static size_t next_batch(hak_heap *heap, unsigned cls) {
    unsigned depth = hak_classes[cls].depth, most = depth / (depth > SHALLOW ? HAK_BATCH_SHARE : 2);
    unsigned batch = heap->batch[cls] < HAK_FIRST_BATCH ? HAK_FIRST_BATCH : heap->batch[cls];
    heap->batch[cls] = (uint16_t)(batch < most / 2 ? batch * 2 : most);
    return batch < most ? batch : most;
}

/* Puts at least one block into the empty magazine. False: out of memory. */
static bool fill(hak_heap *heap, unsigned cls) {
    hak_magazine_deepen(heap, cls);
    hak_remote_drain(heap);
    if (*heap->top[cls] != NULL)
        return true;
    if (hak_heap_slab(heap, cls) == NULL)
        return false;
    size_t batch = next_batch(heap, cls);
    if (batch > heap->depth[cls] && !hak_magazine_grow(heap, cls))
        batch = heap->depth[cls];
    take_from_slabs(heap, cls, batch);
    HAK_TALLY(heap, cls, refill);
    return true;
}

static void *take(hak_heap *heap, unsigned cls) {
    if (*heap->top[cls] == NULL && !fill(heap, cls))
        return NULL;
    return *heap->top[cls]--;
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
    return hak_routes[other] == hak_routes[cls] ? other : cls;
}

/* The first block of a slab costs a page of the system. A thread that wants little would pay that
 * for each size it uses, and a process with a hundred such threads would pay it a hundred times: so
 * it begins with few sizes, and gets a class of its own for what it uses more often. */
static void *take_coarser(hak_heap *heap, unsigned cls) {
    if (heap->batch[cls] + 1 > HAK_COARSE_BLOCKS || heap->partial[cls] != NULL)
        return NULL;
    unsigned other = coarser(cls);
    if (other == cls)
        return NULL;
    heap->batch[cls]++;
    hak_disarm(heap, other);
    return take(heap, other);
}

void *hak_ultra_take(hak_heap *heap, unsigned cls) {
    void *block = *heap->top[cls] == NULL ? take_coarser(heap, cls) : NULL;
    return block != NULL ? block : take(heap, cls);
}

/* ---- the magazine is full ---- */

void hak_ultra_flush(hak_heap *heap, unsigned cls) {
    hak_disarm(heap, cls);
    hak_give_back(heap, cls, heap->bottom[cls] + 1, hak_magazine_count(heap, cls));
    heap->top[cls] = heap->bottom[cls];
}

/* A thread that frees what others allocate will hardly need it: it only gathers blocks for the way
 * home, and more than fill some cache lines would be missed elsewhere. */
static void keep_few(hak_heap *heap, unsigned cls) {
    unsigned few = hak_classes[cls].depth / HAK_FEW_SHARE;
    hak_ultra_flush(heap, cls);
    hak_magazine_set_depth(heap, cls, few > FEW ? few : FEW);
}

static void note_spill(hak_heap *heap, unsigned cls, size_t blocks, hak_given given) {
    if (given.foreign > blocks / 2) {
        heap->spilled[cls] = HAK_SPILL_NONE;
        keep_few(heap, cls);
    } else {
        heap->spilled[cls] =
            given.runs * LONG_RUN <= blocks ? HAK_SPILL_IN_RUNS : HAK_SPILL_SCATTERED;
    }
}

/*   | oldest ......... | given back: half the usual depth | newest: the other half |
 *
 * The oldest of a magazine deeper than usual stay where they are, so that a free never has to move
 * or to give back more than a few hundred blocks. One that keeps few gives all of them. */
static void spill(hak_heap *heap, unsigned cls) {
    size_t usual = hak_classes[cls].depth, count = hak_magazine_count(heap, cls);
    size_t most = count < usual ? count : usual;
    size_t newest = heap->depth[cls] < usual ? 0 : most / 2, blocks = most - newest;
    void **from = heap->top[cls] + 1 - most;
    hak_given given = hak_give_back(heap, cls, from, blocks);
    memmove(from, from + blocks, newest * sizeof *from);
    heap->top[cls] -= blocks;
    note_spill(heap, cls, blocks, given);
}

static void make_room(hak_heap *heap, unsigned cls) {
    bool ours = hak_owner_of(*heap->top[cls]) == hak_owner_word(heap, cls);
    if (!ours || !hak_magazine_grow(heap, cls))
        spill(heap, cls);
}

void hak_ultra_give(hak_heap *heap, unsigned cls, void *block) {
    if (HAK_UNLIKELY(*heap->top[cls] == block))
        hak_fatal("double free", "free", block, "it is the block freed last");
    if (heap->top[cls] == heap->end[cls])
        make_room(heap, cls);
    *++heap->top[cls] = block;
}

void hak_ultra_take_home(hak_heap *heap, unsigned cls, void *block) {
    if (hak_is_armed(heap, cls) ||
        (heap->top[cls] == heap->end[cls] && !hak_magazine_grow(heap, cls)))
        hak_slab_put(heap, hak_run_of(block), block);
    else
        *++heap->top[cls] = block;
}
