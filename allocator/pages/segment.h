/* Segments: which of their pages are in use, which have memory, which are dirty. One lock guards
 * all of it. */
#pragma once

#include "base/types.h"
#include "os/lock.h"

/* Guards ranges, segments, their rooms and the dirty list. The innermost of the locks that
 * anybody waits for. */
extern HAK_HIDDEN hak_lock hak_segment_lock;

/* Under the lock: marks pages as in use, or as free. Claimed pages keep what they hold; returns how
 * many of them had memory, the others read as zero. Freed ones are dirty, or read as zero when
 * `zeroed`. */
size_t hak_pages_claim(hak_range *r, size_t first, size_t count);
void hak_pages_free(hak_range *r, size_t first, size_t count, bool zeroed);

/* The same for free pages while the system takes their memory away. */
void hak_pages_hide(hak_range *r, size_t first, size_t count);
void hak_pages_show(hak_range *r, size_t first, size_t count, bool zeroed);

/* Under the lock: free pages of the segment that nothing ever lay in have memory all the same,
 * since a huge page stood behind them: they are dirty from now on. */
void hak_pages_touch(hak_segment *s);

/* Under the lock: dirty pages that the system would not take back, because they are locked, or may
 * take when it likes. They do not count as dirty until they have been used again. */
void hak_pages_keep(hak_range *r, size_t first, size_t count);

/* Under the lock: whether the pages exist and are free; makes free ones as old as if they had been
 * dirty when the purge epoch began. */
bool hak_pages_are_free(const hak_range *r, size_t first, size_t count);
void hak_pages_age(hak_range *r, size_t first, size_t count);

/* Under the lock: how many of the pages are dirty. */
size_t hak_pages_dirty_within(const hak_range *r, size_t first, size_t count);

/* Free pages of the segment that have memory, which the system would take back. */
HAK_INLINE uint32_t hak_segment_dirty(const hak_segment *s) {
    return s->touched & ~s->used & ~s->kept;
}

/* Pages in use, those of them that somebody has, and dirty ones, in all ranges. Any thread; hints
 * without the lock. */
size_t hak_pages_used(void);
size_t hak_pages_held(void);
size_t hak_pages_dirty(void);

/* In a forked child, where other threads of its parent were busy with pages: trusts the words that
 * say which pages are used, have memory or are leaving, and works out anew all else that the lock
 * guards (os/lock.h). What another thread was just taking or giving stays used for ever. */
void hak_pages_after_fork_in_child(void);
