/* Purge epochs: whether freed memory waits, and until when. Code that frees something includes this
 * file alone; reclaim/purge.h has what happens when an epoch ends. */
#ifndef HAK_PAGES_EPOCH_H
#define HAK_PAGES_EPOCH_H

#include "base/types.h"
#include "os/lock.h"

/* Something has been freed that may go back to the system: starts an epoch if none runs. Purges at
 * once when it is very much: pages/excess.h. */
void hak_purge_expect(void);
/* The same for one more spare run; `faults` as for hak_excess_spare. */
void hak_purge_expect_spare(uint64_t faults);

/* A slab took pages that had no memory: free ones elsewhere may go instead. */
void hak_purge_for_growth(void);

/* The epoch that runs, or begins now, ends in so many milliseconds at the latest. Signal handlers
 * may call it. */
void hak_epoch_hasten(uint64_t milliseconds);

/* True while something waits for the end of an epoch. */
bool hak_purge_is_pending(void);

/* ---- for reclaim/purge.c ---- */

/* One purge at a time. Taken before the registry lock and the segment lock. */
extern HAK_HIDDEN hak_lock hak_purge_lock;

/* When the epoch ends; 0: none runs, nothing waits. */
uint64_t hak_epoch_ends_ms(void);

/* Counts epochs; each heap is trimmed once in each. */
uint32_t hak_epoch_number(void);

/* All under the lock. */
void hak_epoch_count(void);            /* the epoch has ended */
void hak_epoch_expect_more(bool more); /* true: something is left for the next one */
void hak_epoch_put_off(uint64_t now);  /* what has ended goes on at the next visit */
void hak_epoch_start(uint64_t now);    /* the next one begins, if something waits for it */

#endif
