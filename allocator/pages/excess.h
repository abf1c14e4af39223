/* Freed memory that does not wait for the end of the epoch, because there is so much of it.
 *
 * - A burst of frees that leaves more dirty pages than half of those in use gives the oldest back
 *   at once; unless the program builds up and tears down in turn, and would only have them back
 *   soon.
 * - When more becomes resident than ever before, since the runs that slabs ask for do not fit into
 *   what lies free in between, that goes instead; at most a quarter of the pages in use in each
 *   purge delay.
 * - Freed huge blocks. What one holds is not its size: a program that asks for much and uses little
 *   of it would pay for nothing. Page faults are counted instead, which bound what became resident.
 *   A dense block, most of which may be resident, is dirty pages like all others, and waits
 *   as they do. What is used sparsely becomes spare runs, which may hold HAKMEM_HUGE_KEEP
 *   together. */
#ifndef HAK_PAGES_EXCESS_H
#define HAK_PAGES_EXCESS_H

#include "base/types.h"

#define HAK_HUGE_PAGES ((size_t)128) /* a block of so many pages is huge: 8 MiB */

/* Once, when the first memory is reserved. */
void hak_excess_start(void);

/* Dirty pages that should go now. Any thread, after it gave pages back. */
size_t hak_excess_pages(void);

/* Free pages that the caches of threads may hold (pages/run_cache.h): they count as dirty ones.
 * False: so many more would be too many, or nothing may wait at all. Any thread. */
bool hak_excess_borrow(size_t pages);
void hak_excess_give_back(size_t pages);
size_t hak_excess_borrowed(void);

/* The same, after a slab took pages that had no memory. */
size_t hak_excess_growth(void);

/* Looks at the process's count of page faults, unless it did so a moment ago. Whenever a huge block
 * is taken or given. */
void hak_excess_look(void);

/* That count, and those faults that it takes to make so many pages resident. */
uint64_t hak_excess_faults(void);
uint64_t hak_excess_faults_of(size_t pages);

/* What a huge block of `pages` pages is when it is freed; `faults`: the count when it was taken,
 * less those of pages that had memory by then. RARELY: dense, and the first one for a while. */
enum hak_freed { HAK_FREED_SPARSE, HAK_FREED_DENSE, HAK_FREED_RARELY };
enum hak_freed hak_excess_huge(size_t pages, uint64_t faults);

/* True when the `pages` free pages behind a new block should go: what is left of a longer block
 * that lay there before, when more is dirty than in use. */
bool hak_excess_tail(size_t pages);

/* True when what spare runs hold should go now, as one more came; `faults` as above. */
bool hak_excess_spare(uint64_t faults);

/* A count of faults at which no spare run held anything. */
uint64_t hak_excess_spare_since(void);

/* What they hold goes now: call it before it does. */
void hak_excess_spare_purged(void);

/* In a forked child, where the thread that held the lock may not exist any more. */
void hak_excess_after_fork_in_child(void);

#endif
