#include "pages/press.h"

#include "pages/dirty.h"

static size_t beyond(_Atomic size_t *limit, size_t pages) {
    size_t most = atomic_load_explicit(limit, memory_order_relaxed), all = hak_quota_with(pages);
    return all > most ? all - most : 0;
}

static bool enter(bool must) {
    if (must)
        hak_lock_take(&hak_purge_lock);
    return must || hak_lock_try(&hak_purge_lock);
}

void hak_press(size_t pages) {
    bool must = beyond(&hak_limit.hard, pages) != 0;
    if (!enter(must))
        return;
    size_t entries = hak_dirty_count(), over = beyond(&hak_limit.lowest, pages);
    if (over != 0)
        hak_dirty_purge(&entries, over, HAK_DIRTY_ALL);
    hak_lock_give(&hak_purge_lock);
}
