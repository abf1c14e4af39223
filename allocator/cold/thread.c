#include "cold/thread.h"

#include "base/classes.h"
#include "cold/arm.h"
#include "cold/background.h"
#include "cold/bin.h"
#include "cold/epoch.h"
#include "cold/exchange.h"
#include "cold/heap.h"
#include "cold/magazine.h"
#include "cold/owner.h"
#include "cold/purge.h"
#include "cold/remote.h"
#include "cold/seat.h"
#include "cold/trim.h"
#include "os/barrier.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/mend.h"
#include "policy/policy.h"

#include <unistd.h>

/* All other magazines of it have top = end = NULL: free finds them full. malloc finds class
 * HAK_CLASS_NONE for every size, and that magazine empty. */
const hak_heap hak_no_heap = {.top = {HAK_NOTHING}, .end = {HAK_NOTHING}};

HAK_TLS hak_thread hak_this_thread = {.heap = (hak_heap *)&hak_no_heap};

enum {
    WARM_HEAPS = 4,   /* idle heaps that keep magazines ... */
    WARM_BLOCKS = 16, /* ... of at most so many small blocks */
};

/* Lock order: borrow, purge, registry, segment. While start_lock is held, libc's functions run. */
static hak_lock borrow_lock, start_lock;
static hak_heap *borrowed;

/* ---- the end of a thread ---- */

/* Where threads follow each other, each would fill its magazines from the slabs and flush them at
 * its end. So the last heaps keep a few small blocks ready for the next threads. */
static size_t blocks_to_keep(unsigned cls) {
    size_t usual = hak_classes[cls].depth; /* which the magazine will have then */
    if (hak_classes[cls].size > HAK_SMALL_MAX)
        return 0;
    return usual < WARM_BLOCKS ? usual : WARM_BLOCKS;
}

static void flush_most(hak_heap *heap) {
    bool warm = hak_seat_idle_count() < WARM_HEAPS;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (hak_magazine_count(heap, cls) > (warm ? blocks_to_keep(cls) : 0))
            hak_bin_flush(heap, cls);
}

/* Warm blocks and empty slabs stay with the heap for the next thread; the purge epoch takes them if
 * none comes. */
void hak_heap_let_go(hak_heap *heap) {
    hak_owner_is_unknown(heap);
    hak_remote_drain(heap);
    flush_most(heap);
    hak_heap_leave(heap);
}

static void thread_exits(void) {
    hak_heap *heap = hak_this_thread.owned;
    hak_this_thread = (hak_thread){.heap = (hak_heap *)&hak_no_heap, .ended = true};
    if (heap == NULL)
        return;
    hak_owner_enters(heap);
    hak_heap_let_go(heap);
    hak_purge_expect();
    hak_background_start();
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
    hak_exchange_after_fork_in_child();
    if (!hak_owner_survives_fork(hak_this_thread.owned))
        hak_this_thread =
            (hak_thread){.heap = (hak_heap *)&hak_no_heap, .ended = hak_this_thread.ended};
    hak_heap_after_fork_in_child(hak_this_thread.owned, borrowed);
    hak_purge_after_fork_in_child();
    hak_lock_inherit(&start_lock);
}

/* ---- the start of a thread ---- */

/* Threads that allocate for the first time at once wait for each other here: none may go on before
 * its end would be noticed. What hak_os_start allocates comes from the heap this thread has
 * already. */
static void start_process(void) {
    static const hak_os_hooks hooks = {thread_exits, after_fork_in_child};
    static _Atomic bool started;
    if (atomic_load_explicit(&started, memory_order_acquire))
        return;
    hak_lock_take(&start_lock);
    hak_os_barrier_start();
    if (!atomic_load_explicit(&started, memory_order_relaxed) && hak_os_start(&hooks))
        atomic_store_explicit(&started, true, memory_order_release);
    hak_lock_give(&start_lock);
}

/* A heap whose thread ends unnoticed would be lost. So without a watch the thread borrows, and asks
 * again the next time. */
static HAK_COLD hak_heap *detach(hak_heap *heap) {
    hak_this_thread = (hak_thread){.heap = (hak_heap *)&hak_no_heap};
    hak_owner_enters(heap);
    hak_heap_let_go(heap);
    return NULL;
}

static HAK_COLD hak_heap *attach(void) {
    if (hak_this_thread.ended)
        return NULL;
    hak_policy_start(environ); /* constructors that run before ours allocate, too */
    hak_heap *heap = hak_heap_obtain();
    if (heap == NULL)
        return NULL;
    hak_owner_is_this_thread(heap);
    hak_owner_leaves(heap);
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
        borrowed = hak_heap_obtain();
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
