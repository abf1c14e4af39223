/* Taking memory back from heaps whose owner does not come to a slow path. It may sleep, or its
 * magazines may serve all that it allocates and frees. */
#pragma once

#include "base/types.h"

/* A step of the trim of all heaps whose owner did not come by for a purge delay: what lies free in
 * them waits no longer. `epoch` is the one that begins when all are done. False: it has to go on.
 * Under the purge lock. */
bool hak_reclaim_some(uint64_t now, uint32_t epoch, size_t budget);

/* Takes back at once what lies free in all heaps. Returns the bytes given back. Under the purge
 * lock. */
size_t hak_reclaim_all(void);

/* A step of taking home what other threads have freed to heaps whose owner did not come by for a
 * moment (HAK_MOMENT_MS). Their empty slabs are free pages then, which any thread may take; nothing
 * goes to the system. False: it has to go on. Under the purge lock. */
bool hak_reclaim_mail(uint64_t now);
