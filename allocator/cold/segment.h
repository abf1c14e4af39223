/* Runs of pages, taken from segments and given back. One lock guards all of it. */
#ifndef HAK_COLD_SEGMENT_H
#define HAK_COLD_SEGMENT_H

#include "base/types.h"
#include "os/lock.h"

/* Guards ranges, segments and the dirty list. The innermost lock. */
extern HAK_HIDDEN hak_lock hak_segment_lock;

/* A run of `pages` pages whose first is aligned to `align` pages (a power of two); *zeroed says
 * that all of it reads as zero. The head's start, pages and bitmap are set, the rest is for the
 * caller. NULL: out of memory. Any thread. */
hak_slab *hak_run_take(size_t pages, size_t align, bool *zeroed);

/* Gives a run back; its pages are dirty from now on, or clean when `zeroed`. Any thread. */
void hak_run_give(hak_slab *head, bool zeroed);

/* Makes a run longer, in place. False: the pages behind it are not free. */
bool hak_run_extend(hak_slab *head, size_t pages);

/* Gives the pages behind the first `pages` of a run back. */
void hak_run_trim(hak_slab *head, size_t pages);

/* Under the lock: puts a segment on the free list that suits its longest free run. */
void hak_segment_sort(hak_segment *s);

/* Under the lock: takes the segment that has been dirty longest off the list; NULL when none. */
hak_segment *hak_dirty_pop(void);
/* Under the lock: puts a segment with dirty pages at the end of the list, if it is not on it. */
void hak_dirty_push(hak_segment *s);
/* Segments on the dirty list. Any thread; a hint without the lock. */
size_t hak_dirty_count(void);

#endif
