/* Runs of pages, taken from segments and given back. One lock guards all of it. */
#ifndef HAK_COLD_SEGMENT_H
#define HAK_COLD_SEGMENT_H

#include "base/types.h"
#include "os/lock.h"
#include "pages/home.h"

/* Guards ranges, segments, their rooms and the dirty list. The innermost lock. */
extern HAK_HIDDEN hak_lock hak_segment_lock;

/* Asks the system for the first segment, while nothing forbids it. */
void hak_segments_start(void);

/* A run of `pages` pages whose first is aligned to `align` pages (a power of two), at this home
 * first; *zeroed says that all of it reads as zero. The head's start, pages and bitmap are set, the
 * rest is for the caller. NULL: out of memory. Any thread. */
hak_slab *hak_run_take(unsigned home, size_t pages, size_t align, bool *zeroed);

/* Gives a run back; its pages are dirty from now on, or clean when `zeroed`. Any thread. */
void hak_run_give(hak_slab *head, bool zeroed);

/* Gives one back that lay free since before the purge epoch began: it goes when that ends. */
void hak_run_give_aged(hak_slab *head);

/* Makes a run longer, in place. False: the pages behind it are not free. */
bool hak_run_extend(hak_slab *head, size_t pages);

/* Gives the pages behind the first `pages` of a run back. */
void hak_run_trim(hak_slab *head, size_t pages);

/* Under the lock: marks pages as in use, or as free. Claimed pages keep what they hold; returns how
 * many of them had memory, the others read as zero. Freed ones are dirty, or read as zero when
 * `zeroed`. */
size_t hak_pages_claim(hak_range *r, size_t first, size_t count);
void hak_pages_free(hak_range *r, size_t first, size_t count, bool zeroed);

/* Under the lock: free pages of the segment that nothing ever lay in have memory all the same,
 * since a huge page stood behind them: they are dirty from now on. */
void hak_pages_touch(hak_segment *s);

/* Under the lock: dirty pages that the system would not take back, because they are locked, or may
 * take when it likes. They do not count as dirty until they have been used again. */
void hak_pages_keep(hak_range *r, size_t first, size_t count);

/* Free pages of the segment that memory stands behind and that the system would take back. */
HAK_INLINE uint32_t hak_segment_dirty(const hak_segment *s) {
    return s->touched & ~s->used & ~s->kept;
}

/* Pages in use, and dirty ones, in all ranges. Any thread; hints without the lock. */
size_t hak_pages_used(void);
size_t hak_pages_dirty(void);

/* In a forked child: counts both anew. */
void hak_pages_count(void);

#endif
