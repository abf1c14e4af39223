#include "cold/refill.h"

#include "base/classes.h"
#include "base/fatal.h"
#include "cold/heap.h"
#include "cold/large.h"
#include "cold/purge.h"
#include "cold/range.h"
#include "cold/remote.h"
#include "cold/slab.h"

#include <errno.h>
#include <string.h>

/* ---- refill ---- */

static unsigned class_for(const hak_heap *heap, size_t size) {
    if (size <= HAK_SMALL_MAX)
        return heap->class_of_small[(size + 15) >> HAK_SMALL_STEP_SHIFT];
    return heap->class_of_medium[(size + 255) >> HAK_MEDIUM_STEP_SHIFT];
}

static void take_from_slabs(hak_heap *heap, unsigned class, size_t want) {
    while (want > 0 && heap->partial[class] != NULL) {
        void **slots = heap->top[class] + 1;
        size_t taken = hak_slab_take(heap, heap->partial[class], slots, want);
        heap->top[class] += taken;
        want -= taken;
    }
}

/* Puts at least one block into the empty magazine. False: out of memory. */
static bool fill(hak_heap *heap, unsigned class) {
    hak_remote_drain(heap, class);
    if (*heap->top[class] != NULL)
        return true;
    if (heap->partial[class] == NULL && !hak_heap_adopt(heap, class) &&
        hak_slab_make(heap, class) == NULL)
        return false;
    take_from_slabs(heap, class, hak_classes[class].depth / 2);
    return true;
}

static void *allocate(hak_heap *heap, unsigned class) {
    if (*heap->top[class] == NULL && !fill(heap, class)) {
        errno = ENOMEM;
        return NULL;
    }
    return *heap->top[class]--;
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
    void *block = allocate(heap, class_for(heap, size));
    hak_purge_tick(heap);
    return block;
}

/* ---- retire ---- */

static void give_back(hak_heap *heap, unsigned class, void *block, hak_chain *elsewhere) {
    hak_slab *slab = hak_run_of(block);
    if (HAK_UNLIKELY(slab->kind != HAK_RUN_SLAB || slab->class != class))
        hak_fatal("double free", "free", block, "its slab is empty already");
    hak_heap *owner = atomic_load_explicit(&slab->owner, memory_order_relaxed);
    if (owner == heap)
        hak_slab_put(heap, slab, block);
    else
        hak_chain_add(elsewhere, owner, block);
}

void hak_magazine_flush(hak_heap *heap, unsigned class, size_t keep) {
    void **first = heap->end[class] - hak_classes[class].depth + 1;
    size_t count = (size_t)(heap->top[class] + 1 - first);
    if (count <= keep)
        return;
    hak_chain elsewhere = {0};
    for (size_t i = 0; i < count - keep; i++)
        give_back(heap, class, first[i], &elsewhere);
    hak_chain_send(&elsewhere);
    memmove(first, first + (count - keep), keep * sizeof first[0]);
    heap->top[class] = first + keep - 1;
}

static void push(hak_heap *heap, unsigned class, void *block) {
    if (HAK_UNLIKELY(*heap->top[class] == block))
        hak_fatal("double free", "free", block, "it is the block freed last");
    if (heap->top[class] == heap->end[class])
        hak_magazine_flush(heap, class, hak_classes[class].depth / 2);
    *++heap->top[class] = block;
}

/* A thread that has no heap any more hands each block straight to its owner. */
static HAK_COLD void push_to_owner(void *block) {
    hak_chain chain = {0};
    give_back(NULL, hak_run_of(block)->class, block, &chain);
    hak_chain_send(&chain);
}

void hak_retire(void *block) {
    if (block == NULL)
        return;
    const hak_range *r = hak_range_of(block);
    unsigned class = r != NULL ? hak_class_in(r, block) : HAK_CLASS_NONE;
    hak_heap *heap = hak_heap_self();
    if (class == HAK_CLASS_NONE)
        hak_large_free(block);
    else if (heap != NULL)
        push(heap, class, block);
    else
        push_to_owner(block);
    if (heap != NULL)
        hak_purge_tick(heap);
}
