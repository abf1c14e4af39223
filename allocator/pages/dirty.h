/* Dirty pages: free, but still backed by memory. Segments that have some wait on a list, the one
 * that has waited longest first. */
#ifndef HAK_COLD_DIRTY_H
#define HAK_COLD_DIRTY_H

#include "base/types.h"

/* Under the segment lock: puts a segment with dirty pages at the end of the list, if it is not on
 * it. */
void hak_dirty_push(hak_segment *s);
/* In a forked child: empties the list. The segments still say that they are on it. */
void hak_dirty_forget(void);
/* Segments on the list. Any thread; a hint without the lock. */
size_t hak_dirty_count(void);

/* Which dirty pages go: those that were dirty already at the last such visit, or all. */
enum hak_dirty_which { HAK_DIRTY_AGED, HAK_DIRTY_ALL };

/* Visits the first *entries segments of the list, counts them down and purges such pages of them.
 * Stops early when `most` pages are purged. The lock is free during the system calls. Returns
 * bytes. Under the purge lock. */
size_t hak_dirty_purge(size_t *entries, size_t most, enum hak_dirty_which which);

/* Purges the free pages directly behind a run, `most` at most. Any thread. */
void hak_dirty_purge_behind(const hak_slab *run, size_t most);

#endif
