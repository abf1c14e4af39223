#include "cold/refill.h"

#include "base/classes.h"
#include "base/fatal.h"
#include "cold/arm.h"
#include "cold/heap.h"
#include "cold/large.h"
#include "cold/magazine.h"
#include "cold/purge.h"
#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"

#include <errno.h>
#include <string.h>

enum { FIRST_BATCH = 8 };

/* ---- refill ---- */

/* The class of a size that malloc is armed for. */
static unsigned class_by_search(size_t size) {
    unsigned low = 1, high = HAK_CLASSES - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (hak_classes[middle].size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static unsigned class_for(const hak_heap *heap, size_t size) {
    unsigned cls = size <= HAK_SMALL_MAX
                       ? heap->class_of_small[(size + 15) >> HAK_SMALL_STEP_SHIFT]
                       : heap->class_of_medium[(size + 255) >> HAK_MEDIUM_STEP_SHIFT];
    return cls != HAK_CLASS_NONE ? cls : class_by_search(size);
}

static void take_from_slabs(hak_heap *heap, unsigned cls, size_t want) {
    while (want > 0 && heap->partial[cls] != NULL) {
        void **slots = heap->top[cls] + 1;
        size_t taken = hak_slab_take(heap, heap->partial[cls], slots, want);
        heap->top[cls] += taken;
        want -= taken;
    }
}

/* A class that is used rarely takes few blocks; each refill doubles the next, up to an eighth of a
 * magazine: blocks that nobody asked for are memory that nobody else can use. */
static size_t next_batch(hak_heap *heap, unsigned cls) {
    unsigned most = (hak_classes[cls].depth + 7u) / 8u;
    unsigned batch = heap->batch[cls] < FIRST_BATCH ? FIRST_BATCH : heap->batch[cls];
    heap->batch[cls] = (uint16_t)(batch < most / 2 ? batch * 2 : most);
    return batch < most ? batch : most;
}

/* Puts at least one block into the empty magazine. False: out of memory. */
static bool fill(hak_heap *heap, unsigned cls) {
    hak_magazine_deepen(heap, cls);
    hak_remote_drain(heap);
    if (*heap->top[cls] != NULL)
        return true;
    if (heap->partial[cls] == NULL && !hak_heap_adopt(heap, cls) &&
        hak_slab_make(heap, cls) == NULL)
        return false;
    size_t batch = next_batch(heap, cls);
    if (batch > heap->depth[cls] && !hak_magazine_grow(heap, cls))
        batch = heap->depth[cls];
    take_from_slabs(heap, cls, batch);
    HAK_TALLY(heap, cls, refill);
    return true;
}

static void *allocate(hak_heap *heap, unsigned cls) {
    HAK_TALLY(heap, cls, fallback);
    hak_disarm(heap, cls);
    if (*heap->top[cls] == NULL && !fill(heap, cls)) {
        errno = ENOMEM;
        return NULL;
    }
    return *heap->top[cls]--;
}

static HAK_COLD void *allocate_borrowed(size_t size) {
    hak_heap *heap = hak_heap_borrow();
    if (heap == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = allocate(heap, class_for(heap, size));
    hak_heap_return();
    return block;
}

void *hak_refill(size_t size) {
    hak_heap *heap = hak_heap_self();
    if (HAK_UNLIKELY(heap == NULL))
        return allocate_borrowed(size);
    unsigned cls = class_for(heap, size);
    void *block = hak_armed_pop(heap, cls);
    if (block != NULL)
        return block;
    block = allocate(heap, cls);
    hak_purge_tick(heap, cls);
    return block;
}

/* ---- retire ---- */

static void push(hak_heap *heap, unsigned cls, void *block) {
    HAK_TALLY(heap, cls, retire);
    hak_disarm(heap, cls);
    if (HAK_UNLIKELY(*heap->top[cls] == block))
        hak_fatal("double free", "free", block, "it is the block freed last");
    if (heap->top[cls] == heap->end[cls])
        hak_magazine_make_room(heap, cls);
    *++heap->top[cls] = block;
}

/* A thread that has no heap any more hands each block straight to its owner. */
static HAK_COLD void push_to_owner(void *block) {
    hak_chains chain = {0};
    hak_chains_add(&chain, hak_heap_in(hak_owner_of(block)), block);
    hak_chains_send(&chain);
}

void hak_retire(void *block) {
    if (block == NULL)
        return;
    unsigned cls = hak_class_of(block);
    hak_heap *heap = hak_heap_self();
    if (heap != NULL && hak_armed_push(heap, cls, block))
        return;
    if (cls == HAK_CLASS_NONE)
        hak_large_free(block);
    else if (heap != NULL)
        push(heap, cls, block);
    else
        push_to_owner(block);
    if (heap == NULL)
        return;
    hak_purge_tick(heap, cls);
    if (cls != HAK_CLASS_NONE && !hak_is_armed(heap, cls) && hak_purge_is_pending())
        hak_arm_malloc(heap, cls);
}
