/* Freed memory that is too much to wait for the end of the purge epoch. There are three cases.
 *
 * Bursts of frees. When more pages are dirty than half of those in use, and than 16 MiB, the oldest
 * go at once. A program that builds up and tears down in turn is left alone: it wants them back
 * soon.
 *
 * Growth. Free pages may lie in runs too short for a new slab. If the program becomes larger than
 * it ever was by that slab, as many such pages go instead.
 *
 * Huge blocks. A program may ask for much and use little of it, so the size of a block does not say
 * what it holds. Page faults do: they bound what became resident while the block lived.
 *
 *   faults of its life:  | few: sparse  -> spare runs, which hold HAKMEM_HUGE_KEEP together |
 *                        | many: dense  -> dirty pages, which wait like all others           |
 *                        |      RARELY  -> back to the system at once: it is more than may   |
 *                        |                 wait, and the first for a purge delay             | */
#pragma once

#include "base/types.h"

#define HAK_HUGE_PAGES ((size_t)128) /* a block of so many pages is huge: 8 MiB */

/* Once, when the first memory is reserved. */
void hak_excess_start(void);

/* Dirty pages that should go now. Any thread, after it gave pages back. */
size_t hak_excess_pages(void);

/* The same, after a slab took pages that had no memory. */
size_t hak_excess_growth(void);

/* Free pages that the caches of threads may hold (pages/run_cache.h): they count as dirty ones.
 * False: so many more would be too many, or nothing may wait at all. Any thread. */
bool hak_excess_borrow(size_t pages);
void hak_excess_give_back(size_t pages);
size_t hak_excess_borrowed(void);
/* In a forked child: the caches of the heaps that stay hold so many. */
void hak_excess_borrows(size_t pages);

/* Looks at the process's count of page faults, unless it did so a moment ago. Whenever a huge block
 * is taken or given. */
void hak_excess_look(void);

/* The count of that look; how many bytes became resident since an earlier one, at most; and how
 * many faults it takes to make so many pages resident. */
uint64_t hak_excess_faults(void);
size_t hak_excess_bytes_since(uint64_t faults);
uint64_t hak_excess_faults_of(size_t pages);

/* What kind a huge block is when it is freed. `faults` is the count when it was taken, less the
 * faults of those pages that had memory then. RARELY: the caller gives its memory back. */
enum hak_freed { HAK_FREED_SPARSE, HAK_FREED_DENSE, HAK_FREED_RARELY };
enum hak_freed hak_excess_huge(const hak_slab *run, uint64_t faults);

/* Notes that a new block lies where a longer one lay, and leaves `pages` free pages behind it.
 * True: they should go at once, because more pages are dirty than in use, and none did so for a
 * while. */
bool hak_excess_note_tail(size_t pages);
