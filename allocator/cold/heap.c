#include "cold/heap.h"

#include "base/classes.h"
#include "cold/list.h"
#include "cold/magazine.h"
#include "cold/shed.h"
#include "cold/slab.h"
#include "os/lock.h"
#include "pages/heap_room.h"
#include "stats/stats.h"

enum { ADOPT_LOOKS = 8 };

static hak_lock registry_lock;
static hak_heap *registry, *idle_heaps;
static hak_heap *adopt_next; /* among the idle heaps: where the next adoption looks first */
static _Atomic size_t idle_count;

/* ---- making ---- */

static hak_heap *make_heap(void) {
    hak_heap *heap = hak_heap_room_take();
    if (heap == NULL)
        return NULL;
    hak_magazines_lay_out(heap);
    hak_lists_lay_out(heap);
    hak_classes_fill(heap->class_of_small, heap->class_of_medium);
    heap->registry_next = registry;
    registry = heap;
    HAK_COUNT(heaps_made, 1);
    return heap;
}

/* What the last thread needed says little about the next one: it starts small again, but with
 * blocks of each class that was in use, and not of a coarser one. */
static void forget(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        if (heap->batch[cls] > HAK_COARSE_BLOCKS)
            heap->batch[cls] = HAK_COARSE_BLOCKS;
        if (heap->depth[cls] > hak_classes[cls].depth)
            hak_magazine_shrink(heap, cls, 0);
        heap->passage[cls] = HAK_PASSAGE_NONE;
        heap->comes_home[cls] = false;
        hak_shed_forget(heap, cls);
    }
}

static hak_heap *pop_idle(void) {
    hak_heap *heap = idle_heaps;
    if (heap == NULL)
        return NULL;
    idle_heaps = heap->idle_next;
    if (adopt_next == heap)
        adopt_next = heap->idle_next;
    heap->settled = false;
    forget(heap);
    atomic_fetch_sub_explicit(&idle_count, 1, memory_order_relaxed);
    HAK_COUNT(heaps_reused, 1);
    return heap;
}

hak_heap *hak_heap_obtain(void) {
    hak_lock_take(&registry_lock);
    hak_heap *heap = pop_idle();
    if (heap == NULL)
        heap = make_heap();
    if (heap != NULL)
        heap->state = HAK_HEAP_ACTIVE;
    hak_lock_give(&registry_lock);
    return heap;
}

void hak_heap_leave(hak_heap *heap) {
    hak_lock_take(&registry_lock);
    heap->state = HAK_HEAP_IDLE;
    heap->idle_next = idle_heaps;
    idle_heaps = heap;
    atomic_fetch_add_explicit(&idle_count, 1, memory_order_relaxed);
    hak_lock_give(&registry_lock);
}

size_t hak_heap_idle_count(void) {
    return atomic_load_explicit(&idle_count, memory_order_relaxed);
}

/* ---- heaps without a thread ---- */

size_t hak_heap_each_idle(size_t (*visit)(hak_heap *heap, void *context), void *context) {
    size_t sum = 0;
    if (hak_heap_idle_count() == 0)
        return 0;
    hak_lock_take(&registry_lock);
    for (hak_heap *heap = idle_heaps; heap != NULL; heap = heap->idle_next)
        sum += visit(heap, context);
    hak_lock_give(&registry_lock);
    return sum;
}

static bool adopt_from(hak_heap *idle, hak_heap *heap, unsigned cls) {
    hak_slab *slab = idle->partial[cls];
    if (slab == NULL)
        return false;
    hak_slab_unlink(idle, slab);
    hak_slab_own(heap, slab);
    hak_slab_link(heap, slab);
    HAK_COUNT(slabs_adopted, 1);
    return true;
}

/* Goes round the idle heaps, a few at each call: there may be thousands. What was freed to them
 * remotely is taken back once per purge epoch. */
static bool adopt(hak_heap *heap, unsigned cls) {
    bool adopted = false;
    if (hak_heap_idle_count() == 0)
        return false;
    hak_lock_take(&registry_lock);
    for (int looks = 0; looks < ADOPT_LOOKS && !adopted; looks++) {
        if (adopt_next == NULL)
            adopt_next = idle_heaps;
        if (adopt_next == NULL)
            break;
        adopted = adopt_from(adopt_next, heap, cls);
        adopt_next = adopt_next->idle_next;
    }
    hak_lock_give(&registry_lock);
    return adopted;
}

hak_slab *hak_heap_slab(hak_heap *heap, unsigned cls) {
    if (heap->partial[cls] != NULL || adopt(heap, cls))
        return heap->partial[cls];
    return hak_slab_make(heap, cls);
}

void hak_heap_each(void (*visit)(hak_heap *heap, void *context), void *context) {
    hak_lock_take(&registry_lock);
    for (hak_heap *heap = registry; heap != NULL; heap = heap->registry_next)
        visit(heap, context);
    hak_lock_give(&registry_lock);
}

/* ---- fork ---- */

void hak_heap_before_fork(void) {
    hak_lock_take(&registry_lock);
}

void hak_heap_after_fork_in_parent(void) {
    hak_lock_give(&registry_lock);
}

void hak_heap_after_fork_in_child(const hak_heap *own, const hak_heap *borrowed) {
    for (hak_heap *heap = registry; heap != NULL; heap = heap->registry_next)
        if (heap->state == HAK_HEAP_ACTIVE && heap != own && heap != borrowed)
            heap->state = HAK_HEAP_FROZEN;
    hak_lock_reset(&registry_lock);
}
