/* Giving memory back to the system, late enough not to pay for it twice.
 *
 * Time is cut into epochs of the policy's purge delay. The end of an epoch purges every page that
 * was dirty at its beginning and has not been used since. So a page stays dirty for one to two
 * delays. Nothing runs in the background, unless reclaim/background.h is asked for: the slow paths
 * of malloc and free look at the clock. While an epoch runs the magazines are armed
 * (magazine/arm.h). So a program that goes on allocating only a little gives its memory back, too.
 * When an epoch runs: pages/epoch.h. */
#pragma once

#include "base/types.h"

/* Called on the slow paths: ends the epoch when its time has come, arms the heap's magazines when
 * something waits for that. `cls` is the class that was asked for or freed. By the owner. */
void hak_purge_tick(hak_heap *heap, unsigned cls);

/* Ends the epoch when its time has come. Returns the milliseconds until there is more to do; 0:
 * nothing waits. For a thread without a heap: reclaim/background.h. */
uint64_t hak_purge_due(void);

/* Empties the calling thread's heap (NULL: it has none), and those of ended threads. It also
 * empties those of threads that are not on a slow path just now. Then it purges every dirty page.
 * Returns the bytes given back. By the owner. */
size_t hak_purge_all(hak_heap *own);

/* In a forked child: a purge that another thread was at never ends. */
void hak_purge_after_fork_in_child(void);
