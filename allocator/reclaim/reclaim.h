/* Taking memory back from heaps whose owner does not come by: a thread that sleeps, or runs and
 * neither allocates nor frees but what its magazines serve. */
#ifndef HAK_RECLAIM_RECLAIM_H
#define HAK_RECLAIM_RECLAIM_H

#include "base/types.h"

/* A step of the trim of all heaps whose owner did not come by in this purge epoch; counts the
 * budget down (reclaim/trim.h). True: all that can be done is done. *later: more can go in a later
 * epoch. Under the purge lock. */
bool hak_reclaim_some(uint32_t epoch, size_t budget, bool *later);

/* The same at once and for all heaps. Returns the bytes given back. Under the purge lock. */
size_t hak_reclaim_all(void);

#endif
