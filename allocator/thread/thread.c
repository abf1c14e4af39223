#include "thread/thread.h"

#include "heap/heap.h"
#include "heap/owner.h"
#include "heap/seat.h"
#include "magazine/arm.h"
#include "os/barrier.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/epoch.h"
#include "pages/apart.h"
#include "pages/segment.h"
#include "pages/spare.h"
#include "policy/policy.h"
#include "reclaim/abandon.h"
#include "reclaim/background.h"
#include "reclaim/purge.h"
#include "reclaim/trim.h"
#include "sampling/dump.h"
#include "sampling/sites.h"
#include "trap/trap.h"

#include <unistd.h>

/* Its other magazines have top = end = NULL: free finds them full. malloc finds class
 * HAK_CLASS_NONE for every size, and that magazine empty. */
const hak_heap hak_no_heap = {.top = {HAK_NOTHING}, .end = {HAK_NOTHING}};

#define WITHOUT_HEAP ((hak_heap *)&hak_no_heap)
HAK_TLS hak_thread hak_this_thread = {.heap = WITHOUT_HEAP};

/* Lock order: borrow, purge, reclaim, registry, segment. While start_lock is held, libc's functions
 * run. */
static hak_lock borrow_lock;
static HAK_EARLY hak_lock start_lock;
static hak_heap *borrowed;

/* ---- the end of a thread ---- */

static void thread_exits(void) {
    hak_heap *heap = hak_this_thread.owned;
    hak_this_thread = (hak_thread){.heap = WITHOUT_HEAP, .ended = true};
    if (heap == NULL)
        return;
    hak_owner_enters(heap);
    hak_abandon(heap);
    hak_purge_expect();
    hak_background_wake();
    hak_background_start(hak_purge_due);
}

/* The first thread, by whose end the background thread sees that the program may end. */
static void note_first(const hak_heap *heap) {
    if (heap != NULL && hak_seat_is_oldest(heap->seat))
        hak_background_first_lives(true);
}

/* ---- fork ---- */

/* The child goes on with the heap of the thread that forked; what other threads were about is
 * mended (os/lock.h). A handler of signals that forks may have interrupted this very thread under a
 * lock: then nothing is mended. The child of a program with one thread goes on where its parent
 * was; that of one with several may do little more than exec, and needs no sound heaps for it. */
static void after_fork_in_child(void) {
    if (hak_lock_inherit(&borrow_lock))
        borrowed = NULL;
    hak_pages_after_fork_in_child();
    hak_spare_after_fork_in_child();
    hak_apart_after_fork_in_child();
    if (!hak_owner_survives_fork(hak_this_thread.owned))
        hak_this_thread = (hak_thread){.heap = WITHOUT_HEAP, .ended = hak_this_thread.ended};
    hak_heap_after_fork_in_child(hak_this_thread.owned, borrowed);
    hak_purge_after_fork_in_child();
    note_first(hak_this_thread.owned);
    hak_policy_after_fork_in_child();
    hak_sites_after_fork_in_child();
    hak_trap_after_fork_in_child();
    hak_profile_after_fork_in_child();
    hak_lock_inherit(&start_lock);
}

/* ---- the start of a thread ---- */

/* Threads that allocate for the first time at once wait for each other here: none may go on before
 * its end would be noticed. What hak_os_start itself allocates comes by here again. */
void hak_thread_start_process(void) {
    static const hak_os_hooks hooks = {thread_exits, after_fork_in_child};
    static HAK_EARLY _Atomic bool started;
    if (atomic_load_explicit(&started, memory_order_acquire) || hak_this_thread.starts)
        return;
    hak_this_thread.starts = true;
    hak_lock_take(&start_lock);
    hak_os_barrier_start();
    if (!atomic_load_explicit(&started, memory_order_relaxed) && hak_os_start(&hooks))
        atomic_store_explicit(&started, true, memory_order_release);
    hak_lock_give(&start_lock);
    hak_this_thread.starts = false;
}

static hak_heap *obtain(void) {
    hak_abandon_note_begin();
    if (hak_seat_idle_count() == 0)
        hak_abandoned_find(); /* before a heap is made */
    return hak_heap_obtain();
}

/* A heap whose thread ends unnoticed would be lost. So without a watch the thread borrows, and asks
 * again the next time. */
static HAK_COLD hak_heap *detach(hak_heap *heap) {
    hak_this_thread = (hak_thread){.heap = WITHOUT_HEAP};
    hak_owner_enters(heap);
    hak_abandon(heap);
    return NULL;
}

static HAK_COLD hak_heap *attach(void) {
    if (hak_this_thread.ended)
        return NULL;
    hak_policy_start(environ); /* constructors that run before ours allocate, too */
    hak_heap *heap = obtain();
    if (heap == NULL)
        return NULL;
    hak_owner_is(heap, hak_os_this_task());
    hak_owner_leaves(heap);
    hak_this_thread.heap = hak_this_thread.owned = heap;
    hak_thread_start_process();
    if (!hak_os_watch_this_thread())
        return detach(heap);
    note_first(heap);
    return heap;
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

void hak_heap_look(void) {
    hak_heap *heap = hak_this_thread.owned;
    if (heap == NULL || !hak_owner_enters(heap))
        return;
    hak_purge_tick(heap, HAK_CLASS_NONE);
    hak_owner_leaves(heap);
}

bool hak_heap_arm(void) {
    hak_heap *heap = hak_this_thread.owned;
    if (hak_locks_held != 0 || (heap != NULL && atomic_load(&heap->busy)))
        return false;
    if (heap == NULL || !hak_owner_enters(heap))
        return true;
    heap->arming.at_ms = 0;
    hak_arm(heap, HAK_CLASS_NONE, hak_os_now_ms());
    hak_owner_leaves(heap);
    return true;
}

size_t hak_heap_purge_all(void) {
    hak_heap *heap = hak_thread_enter();
    size_t bytes = hak_purge_all(heap);
    hak_thread_leave(heap);
    return bytes;
}
