#include "cold/heap.h"

#include "base/classes.h"
#include "cold/arm.h"
#include "cold/background.h"
#include "cold/list.h"
#include "cold/magazine.h"
#include "cold/purge.h"
#include "cold/remote.h"
#include "cold/route.h"
#include "cold/slab.h"
#include "os/guard.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/range.h"
#include "pages/segment.h"
#include "policy/policy.h"
#include "stats/stats.h"

#include <unistd.h>

/* All other magazines of it have top = end = NULL: free finds them full. malloc finds class
 * HAK_CLASS_NONE for every size, and that magazine empty. */
const hak_heap hak_no_heap = {.top = {(void **)hak_nothing}, .end = {(void **)hak_nothing}};

HAK_TLS hak_thread hak_this_thread = {.heap = (hak_heap *)&hak_no_heap};

enum {
    ADOPT_LOOKS = 8,
    WARM_HEAPS = 4,   /* idle heaps that keep magazines ... */
    WARM_BLOCKS = 16, /* ... of at most so many small blocks */
};

/* Lock order: borrow, purge, registry, segment. */
static hak_lock registry_lock;
static hak_heap *registry, *idle_heaps;
static hak_heap *adopt_next; /* among the idle heaps: where the next adoption looks first */
static _Atomic size_t idle_count;
static hak_lock borrow_lock;
static hak_heap *borrowed;

/* ---- making ---- */

/* Guard builds put a page that faults in front of each heap and one behind it. */
enum { WALL = HAK_GUARD };

static void raise_walls(const hak_slab *run) {
    if (HAK_GUARD) {
        uintptr_t behind = run->start + ((uintptr_t)(run->pages - 1) << HAK_PAGE_SHIFT);
        hak_os_protect((void *)run->start, HAK_PAGE_SIZE);
        hak_os_protect((void *)behind, HAK_PAGE_SIZE);
    }
}

static hak_slab *take_run(bool is_small, bool *zeroed) {
    size_t size = is_small ? HAK_SMALL_HEAP_SIZE : HAK_HEAP_SIZE;
    return hak_run_take(((size + HAK_PAGE_SIZE - 1) >> HAK_PAGE_SHIFT) + (size_t)2 * WALL, 1,
                        zeroed);
}

/* Most of a heap is room for deep magazines, which few programs use. Where it counts although
 * nobody touches it, and where there is not so much, a heap does without. Asked once, for the first
 * heap: a program may have forbidden itself the question later on. */
static hak_heap *make_heap(void) {
    static bool is_limited;
    if (registry == NULL)
        is_limited = hak_os_is_private_limited();
    bool zeroed, is_small = is_limited;
    hak_slab *run = take_run(is_small, &zeroed);
    if (run == NULL && !is_small)
        run = take_run(is_small = true, &zeroed);
    if (run == NULL)
        return NULL;
    run->kind = HAK_RUN_HEAP;
    raise_walls(run);
    hak_heap *heap = (hak_heap *)(run->start + WALL * HAK_PAGE_SIZE);
    if (!zeroed)
        *heap = (hak_heap){0};
    heap->is_small = is_small;
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

static void push_idle(hak_heap *heap) {
    heap->state = HAK_HEAP_IDLE;
    heap->idle_next = idle_heaps;
    idle_heaps = heap;
    atomic_fetch_add_explicit(&idle_count, 1, memory_order_relaxed);
}

static hak_heap *obtain(void) {
    hak_lock_take(&registry_lock);
    hak_heap *heap = pop_idle();
    if (heap == NULL)
        heap = make_heap();
    if (heap != NULL)
        heap->state = HAK_HEAP_ACTIVE;
    hak_lock_give(&registry_lock);
    return heap;
}

/* ---- the calling thread ---- */

static void flush_all(hak_heap *heap) {
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        hak_route_flush(heap, cls);
}

/* Where threads follow each other, each would fill its magazines from the slabs and flush them at
 * its end. So the last heaps keep a few small blocks ready for the next threads; but none of the
 * route HOT, which go into slabs of this heap only: another may adopt them before. */
static void flush_most(hak_heap *heap) {
    bool warm = atomic_load_explicit(&idle_count, memory_order_relaxed) < WARM_HEAPS;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++) {
        size_t count = hak_route_count(heap, cls);
        bool keep = warm && !hak_is_hot(cls) && hak_classes[cls].size <= HAK_SMALL_MAX;
        if (count > (keep ? WARM_BLOCKS : 0))
            hak_route_flush(heap, cls);
    }
}

/* Warm blocks and empty slabs stay with the heap for the next thread; the purge epoch takes them if
 * none comes. */
static void let_go(hak_heap *heap) {
    hak_remote_drain(heap);
    flush_most(heap);
    hak_lock_take(&registry_lock);
    push_idle(heap);
    hak_lock_give(&registry_lock);
}

static void thread_exits(void) {
    hak_heap *heap = hak_this_thread.owned;
    hak_this_thread = (hak_thread){.heap = (hak_heap *)&hak_no_heap, .ended = true};
    if (heap == NULL)
        return;
    let_go(heap);
    hak_purge_expect();
    hak_background_start();
}

/* A signal handler that forks may have interrupted this very thread while it held a lock: waiting
 * for it would last for ever. The child of a program with one thread then goes on where its parent
 * was; that of one with several may do little more than exec, and needs no sound heaps for it. */
static HAK_TLS bool forks_amidst;

static void before_fork(void) {
    forks_amidst = hak_locks_held != 0;
    if (forks_amidst)
        return;
    hak_lock_take(&borrow_lock);
    hak_purge_before_fork();
    hak_lock_take(&registry_lock);
    hak_lock_take(&hak_segment_lock);
    hak_lock_holds_all = true;
}

static void after_fork_in_parent(void) {
    if (forks_amidst) {
        forks_amidst = false;
        return;
    }
    hak_lock_holds_all = false;
    hak_lock_give(&hak_segment_lock);
    hak_lock_give(&registry_lock);
    hak_purge_after_fork_in_parent();
    hak_lock_give(&borrow_lock);
}

/* The heaps of the other threads may have been copied in the middle of an operation: they are
 * never touched again. Their blocks can still be used and freed. */
static void after_fork_in_child(void) {
    if (!forks_amidst) {
        hak_lock_holds_all = false;
        hak_locks_held = 0;
    }
    forks_amidst = false;
    for (hak_heap *heap = registry; heap != NULL; heap = heap->registry_next)
        if (heap->state == HAK_HEAP_ACTIVE && heap != hak_this_thread.owned && heap != borrowed)
            heap->state = HAK_HEAP_FROZEN;
    hak_lock_reset(&hak_segment_lock);
    hak_purge_after_fork_in_child();
    hak_lock_reset(&registry_lock);
    hak_lock_reset(&borrow_lock);
}

/* Threads that allocate for the first time at once wait for each other here: none may go on before
 * its end would be noticed. What hak_os_start allocates comes from the heap this thread has
 * already. */
static void start_process(void) {
    static const hak_os_hooks hooks = {thread_exits, before_fork, after_fork_in_parent,
                                       after_fork_in_child};
    static hak_lock start_lock;
    static _Atomic bool started;
    if (atomic_load_explicit(&started, memory_order_acquire))
        return;
    hak_lock_take(&start_lock);
    if (!atomic_load_explicit(&started, memory_order_relaxed) && hak_os_start(&hooks))
        atomic_store_explicit(&started, true, memory_order_release);
    hak_lock_give(&start_lock);
}

/* A heap whose thread ends unnoticed would be lost. So without a watch the thread borrows, and asks
 * again the next time. */
static HAK_COLD hak_heap *detach(hak_heap *heap) {
    hak_this_thread = (hak_thread){.heap = (hak_heap *)&hak_no_heap};
    let_go(heap);
    return NULL;
}

static HAK_COLD hak_heap *attach(void) {
    if (hak_this_thread.ended)
        return NULL;
    hak_policy_start(environ); /* constructors that run before ours allocate, too */
    hak_heap *heap = obtain();
    if (heap == NULL)
        return NULL;
    hak_this_thread.heap = hak_this_thread.owned = heap;
    start_process();
    return hak_os_watch_this_thread() ? heap : detach(heap);
}

hak_heap *hak_heap_self(void) {
    hak_heap *heap = hak_this_thread.owned;
    if (HAK_LIKELY(heap != NULL))
        return heap;
    HAK_NOT_A_CONDITIONAL_TAIL_CALL();
    return attach();
}

hak_heap *hak_heap_borrow(void) {
    hak_lock_take(&borrow_lock);
    if (borrowed == NULL)
        borrowed = obtain();
    hak_heap *heap = borrowed;
    if (heap == NULL)
        hak_lock_give(&borrow_lock);
    return heap;
}

void hak_heap_return(void) {
    hak_heap_flush(borrowed);
    hak_lock_give(&borrow_lock);
}

void hak_heap_flush_borrowed(void) {
    hak_lock_take(&borrow_lock);
    if (borrowed != NULL)
        hak_heap_flush(borrowed);
    hak_lock_give(&borrow_lock);
}

/* ---- heaps without a thread ---- */

static void release_empty(hak_heap *heap, unsigned cls) {
    for (hak_slab *slab = heap->partial[cls], *next; slab != NULL; slab = next) {
        next = slab->next;
        if (slab->used == 0)
            hak_slab_release(heap, slab);
    }
}

void hak_heap_flush(hak_heap *heap) {
    hak_remote_drain(heap);
    flush_all(heap);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        release_empty(heap, cls);
}

size_t hak_heap_each_idle(size_t (*visit)(hak_heap *heap)) {
    size_t sum = 0;
    if (atomic_load_explicit(&idle_count, memory_order_relaxed) == 0)
        return 0;
    hak_lock_take(&registry_lock);
    for (hak_heap *heap = idle_heaps; heap != NULL; heap = heap->idle_next)
        sum += visit(heap);
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
    if (atomic_load_explicit(&idle_count, memory_order_relaxed) == 0)
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
