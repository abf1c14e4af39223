/* Threads and their heaps: what a thread knows, its start, its end, fork. */
#pragma once

#include "heap/owner.h"

/* What a thread knows: 24 bytes of static TLS.
 *   heap    where malloc and free look; hak_no_heap sends every call to its slow path
 *   owned   the thread's heap, NULL before the first call and after the thread's end */
typedef struct hak_thread {
    hak_heap *heap;
    hak_heap *owned;
    bool ended;
    bool starts; /* it is in hak_thread_start_process, which may allocate */
} hak_thread;

extern HAK_HIDDEN HAK_TLS hak_thread hak_this_thread;

/* A heap whose magazines are all empty and full at once, and which has no range. Never written. */
extern HAK_HIDDEN const hak_heap hak_no_heap;

/* Sees to it that ends of threads and forks are noticed. Once in a process, at load or, where a
 * constructor of somebody else allocates before, at the first call. */
void hak_thread_start_process(void);

/* The calling thread's heap, made or taken over at the first call. NULL when the thread has ended
 * already or memory is out: see hak_heap_borrow. */
hak_heap *hak_heap_self(void);

/* The same, on a slow path from now on; and the end of that, also where there is no heap. */
HAK_INLINE hak_heap *hak_thread_enter(void) {
    hak_heap *heap = hak_heap_self();
    return HAK_LIKELY(heap != NULL) && hak_owner_enters(heap) ? heap : NULL;
}
HAK_INLINE void hak_thread_leave(hak_heap *heap) {
    if (HAK_LIKELY(heap != NULL))
        hak_owner_leaves(heap);
}

/* A heap for calls of threads that have none any more (destructors that run late), or cannot have
 * one, under a lock. NULL: out of memory, and the lock is not held. */
hak_heap *hak_heap_borrow(void);
void hak_heap_return(void);
/* Takes back what others freed to that heap: it lies there until somebody borrows it. */
void hak_heap_flush_borrowed(void);

/* hak_purge_tick for the calling thread's heap, if it has one. Not on a slow path. */
void hak_heap_look(void);

/* Arms the calling thread's magazines: its next calls look at the clock. Not on a slow path: false
 * where this is one, which a handler of signals has interrupted. */
HAK_COLD bool hak_heap_arm(void);

/* hak_purge_all for the calling thread's heap, on a slow path or not. */
size_t hak_heap_purge_all(void);
