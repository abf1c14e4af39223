/* Freed memory that does not wait for the end of the epoch, because there is so much of it.
 *
 * - A burst of frees that leaves more dirty pages than half of those in use gives the oldest back
 *   at once; unless the program builds up and tears down in turn, and would only have them back
 *   soon.
 * - When more becomes resident than ever before, since the runs that slabs ask for do not fit into
 *   what lies free in between, that goes instead; at most a quarter of the pages in use in each
 *   purge delay.
 * - Freed huge blocks together keep at most an eighth of the highest resident memory. What a block
 *   keeps is not its size: a program that asks for much and uses little of it would pay for
 *   nothing. Page faults are counted instead, which bound what became resident. Blocks that are
 *   used as a whole, and in turn, wait for the end of the epoch all the same. */
#ifndef HAK_COLD_EXCESS_H
#define HAK_COLD_EXCESS_H

#include "base/types.h"

#define HAK_HUGE_PAGES ((size_t)128) /* a block of so many pages is huge: 8 MiB */

/* Once, when the first memory is reserved. */
void hak_excess_start(void);

/* Dirty pages that should go now. Any thread, after it gave pages back. */
size_t hak_excess_pages(void);

/* The same, after a slab took pages that had no memory. */
size_t hak_excess_growth(void);

/* The process's count of page faults when a huge block is taken; may be some time old. */
uint64_t hak_excess_faults(void);

/* True when what freed huge blocks keep should go now. Any thread, when it gives a huge block of
 * `pages` pages back; `faults`: the count when it was taken. */
bool hak_excess_huge(size_t pages, uint64_t faults);

/* They go now: call it before they do. */
void hak_excess_purged(void);

/* In a forked child, where the thread that held the lock may not exist any more. */
void hak_excess_after_fork_in_child(void);

#endif
