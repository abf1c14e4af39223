#include "pages/mend.h"

#include "pages/apart.h"
#include "pages/quota.h"
#include "pages/segment.h"
#include "pages/spare.h"

/* Another thread may have been about to map a block. */
static void count_apart(void) {
    size_t bytes;
    hak_apart_count(&bytes);
    hak_quota_set_apart(bytes);
}

void hak_pages_after_fork_in_child(void) {
    bool was_held = hak_lock_inherit(&hak_segment_lock);
    if (hak_locks_held != 0)
        return;
    if (was_held || hak_pages_used() != hak_pages_held()) /* or some are leaving */
        hak_pages_mend();
    hak_spare_mend();
    count_apart();
}
