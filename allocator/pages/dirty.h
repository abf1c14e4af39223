/* Purging dirty pages: free ones that are still backed by memory. */
#pragma once

#include "base/types.h"
#include "os/lock.h"
#include "pages/quota.h"
#include "pages/segment.h"

/* Memory goes back in steps, so that no call waits for all of it. A step is so many dirty pages
 * (128 MiB, some milliseconds in one system call), or so many slabs that a trim looks at
 * (reclaim/trim.h). */
enum { HAK_STEP = 2048 };

/* One purge at a time. Taken before the registry lock and the segment lock. */
extern HAK_HIDDEN hak_lock hak_purge_lock;

/* Which dirty pages go: those that were dirty already at the last such visit, or all. */
enum hak_dirty_which { HAK_DIRTY_AGED, HAK_DIRTY_ALL };

/* Visits the first *entries segments of the list, counts them down and purges such pages of them.
 * Stops early when `most` pages are purged. The lock is free during the system calls. Returns
 * bytes. Under the purge lock. */
size_t hak_dirty_purge(size_t *entries, size_t most, enum hak_dirty_which which);

/* The same for dirty pages of all segments, of whatever age. */
size_t hak_dirty_purge_any(size_t most);

/* Purges the `pages` pages directly behind a run if all are free. Any thread. */
void hak_dirty_purge_behind(const hak_slab *run, size_t pages);

/* So many pages are wanted, by limits of memory that may have changed: dirty ones go, as far as
 * there would be too many. Waits for who purges only where the hard limit is at stake. */
HAK_COLD void hak_dirty_make_room(size_t pages);
HAK_INLINE void hak_dirty_make_room_for(size_t pages) {
    hak_limit_look();
    if (hak_quota_is_near(pages))
        hak_dirty_make_room(pages);
}
