/* Purge epochs. Freed memory waits for the end of an epoch; this file says whether something waits,
 * and until when. Code that frees something needs no more. What happens at the end of an epoch is
 * in reclaim/purge.h. */
#pragma once

#include "base/types.h"
#include "pages/dirty.h" /* the purge lock */

/* Called when something was freed that may go back to the system. Starts an epoch if none runs, and
 * purges at once if very much waits (pages/excess.h). */
void hak_purge_expect(void);
/* Called when blocks were taken that may be left lying in a magazine: starts an epoch, too. */
void hak_purge_expect_sleep(void);

/* Called when a slab took pages without memory. To make up for it, dirty pages elsewhere may go. */
void hak_purge_for_growth(void);

/* The epoch that runs, or begins now, ends in so many milliseconds at the latest. Signal handlers
 * may call it. */
void hak_epoch_hasten(uint64_t milliseconds);

/* True while something waits for the end of an epoch. */
bool hak_purge_is_pending(void);

/* ---- for reclaim/purge.c ---- */

/* When the epoch ends; 0: none runs, nothing waits. */
uint64_t hak_epoch_ends_ms(void);

/* The number of this epoch. Each heap is trimmed once in each. */
uint32_t hak_epoch_number(void);

/* All under the purge lock; hak_epoch_expect_more also in any thread and signal handler. */
void hak_epoch_count(void);         /* notes that the epoch has ended */
void hak_epoch_expect_more(void);   /* notes that something is left for the next epoch */
void hak_epoch_end_at(uint64_t ms); /* the epoch ends then, at the next visit; 0: none runs */
void hak_epoch_start(uint64_t now); /* starts the next epoch, if something waits for it */
