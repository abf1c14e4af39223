#include "pages/press.h"

#include "pages/dirty.h"

static bool enter(bool must) {
    if (must)
        hak_lock_take(&hak_purge_lock);
    return must || hak_lock_try(&hak_purge_lock);
}

void hak_press(size_t pages) {
    bool must = hak_quota_is_beyond_hard(pages);
    if (!enter(must))
        return;
    size_t entries = hak_dirty_count(), over = hak_quota_beyond(pages);
    if (over != 0)
        hak_dirty_purge(&entries, over, HAK_DIRTY_ALL);
    hak_lock_give(&hak_purge_lock);
}
