/* Dirty pages: free, but still backed by memory. Segments that have some wait on a list, the one
 * that has waited longest first. */
#ifndef HAK_COLD_DIRTY_H
#define HAK_COLD_DIRTY_H

#include "base/types.h"

/* Under the segment lock: puts a segment with dirty pages at the end of the list, if it is not on
 * it. */
void hak_dirty_push(hak_segment *s);
/* Segments on the list. Any thread; a hint without the lock. */
size_t hak_dirty_count(void);

/* Visits the first *entries segments of the list and counts them down: purges their dirty pages,
 * or, unless `all`, those that were dirty already at the last such visit. Stops early when `most`
 * pages are purged. The lock is free during the system calls. Returns bytes. Under the purge lock.
 */
size_t hak_dirty_purge(size_t *entries, size_t most, bool all);

#endif
