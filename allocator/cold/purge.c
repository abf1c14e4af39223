#include "cold/purge.h"

#include "cold/arm.h"
#include "cold/background.h"
#include "cold/epoch.h"
#include "cold/heap.h"
#include "cold/remote.h"
#include "cold/trim.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/dirty.h"
#include "pages/excess.h"
#include "pages/spare.h"
#include "policy/policy.h"

enum {
    STEP = 2048,  /* pages purged in one visit: 128 MiB, some milliseconds; ... */
    STEP_MS = 32, /* ... as many again for each of these since the visit before */
};

/* The end of an epoch is done in steps, so that no malloc has to wait for all of it. `pause` is the
 * time since the thread's last visit: who comes rarely does more. */
static void end_epoch(uint64_t now, uint64_t pause) {
    static size_t left; /* dirty segments that this epoch still has to visit; under the lock */
    if (!hak_lock_try(&hak_purge_lock))
        return; /* another thread is at it */
    if (left == 0) {
        hak_epoch_expect_more(hak_heap_each_idle(hak_heap_trim_idle) != 0);
        hak_spare_release();
        left = hak_dirty_count();
        hak_epoch_count();
    }
    bool at_once = hak_policy_now()->purge_delay_ms == 0;
    hak_dirty_purge(&left, STEP * (1 + pause / STEP_MS), at_once ? HAK_DIRTY_ALL : HAK_DIRTY_AGED);
    if (left == 0)
        hak_epoch_start(now);
    else
        hak_epoch_put_off(now); /* go on at the next visit */
    hak_lock_give(&hak_purge_lock);
}

static size_t take_back(hak_heap *heap) {
    hak_remote_drain(heap);
    return 0;
}

/* First the blocks on their way travel to their owners, which may be any of the heaps. */
size_t hak_purge_all(hak_heap *own) {
    hak_lock_take(&hak_purge_lock);
    hak_heap_each_idle(take_back);
    size_t bytes = own != NULL ? hak_heap_trim_now(own) : 0;
    bytes += hak_heap_each_idle(hak_heap_trim_now);
    hak_spare_release();
    size_t entries = hak_dirty_count();
    bytes += hak_dirty_purge(&entries, SIZE_MAX, HAK_DIRTY_ALL);
    hak_lock_give(&hak_purge_lock);
    return bytes;
}

static void trim_once_per_epoch(hak_heap *heap) {
    uint32_t now = hak_epoch_number();
    if (heap->epoch_seen == now)
        return;
    heap->epoch_seen = now;
    heap->armed_at_ms = 0; /* emptying the magazines disarms them: arm them all again */
    if (hak_heap_trim(heap) != 0)
        hak_purge_expect();
}

/* True when the background thread ended an epoch behind this heap's back. */
static bool has_missed_one(const hak_heap *heap) {
    return hak_policy_now()->purge_thread != 0 && heap->epoch_seen != hak_epoch_number();
}

void hak_purge_tick(hak_heap *heap, unsigned cls) {
    uint64_t ends = hak_epoch_ends_ms();
    if (ends == 0 && !has_missed_one(heap))
        return;
    uint64_t now = hak_os_now_ms();
    if (ends != 0 && now >= ends)
        end_epoch(now, now - heap->seen_at_ms);
    trim_once_per_epoch(heap);
    hak_background_start();
    if (hak_purge_is_pending())
        hak_arm(heap, cls, now);
}

uint64_t hak_purge_due(void) {
    uint64_t ends = hak_epoch_ends_ms();
    uint64_t now = hak_os_now_ms();
    if (ends != 0 && now >= ends)
        end_epoch(now, 0);
    ends = hak_epoch_ends_ms();
    return ends > now ? ends - now : ends != 0;
}

void hak_purge_before_fork(void) {
    hak_lock_take(&hak_purge_lock);
}
void hak_purge_after_fork_in_parent(void) {
    hak_lock_give(&hak_purge_lock);
}
void hak_purge_after_fork_in_child(void) {
    hak_excess_after_fork_in_child();
    hak_background_after_fork_in_child();
    hak_lock_reset(&hak_purge_lock);
}
