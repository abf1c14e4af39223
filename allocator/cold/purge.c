#include "cold/purge.h"

#include "cold/arm.h"
#include "cold/background.h"
#include "cold/heap.h"
#include "cold/remote.h"
#include "cold/trim.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/dirty.h"
#include "pages/excess.h"
#include "pages/spare.h"
#include "policy/policy.h"
#include "stats/stats.h"

enum {
    NEVER_MS = 3600000, /* the highest value of the option */
    STEP = 2048,        /* pages purged in one visit: 128 MiB, some milliseconds; ... */
    STEP_MS = 32,       /* ... as many again for each of these since the visit before */
};

static hak_lock purge_lock;            /* one purge at a time; taken before the segment lock */
static _Atomic uint64_t epoch_ends_ms; /* 0: no epoch runs, nothing waits */
static _Atomic uint32_t epoch;         /* counts epochs; each heap is trimmed once in each */
static _Atomic bool expected;          /* something was freed or left over since the epoch began */

bool hak_purge_is_pending(void) {
    return atomic_load_explicit(&epoch_ends_ms, memory_order_relaxed) != 0;
}

static void set_end(uint64_t ms) {
    atomic_store_explicit(&epoch_ends_ms, ms, memory_order_seq_cst);
}

/* Whoever frees something sets `expected` and then looks whether an epoch runs; we say that none
 * runs and then look at `expected` again: one of the two sees the other. */
static void start_epoch(uint64_t now) {
    uint64_t ends = now + hak_policy_now()->purge_delay_ms;
    bool wanted = atomic_exchange(&expected, false) || hak_dirty_count() != 0;
    set_end(wanted ? ends : 0);
    if (!wanted && atomic_load(&expected))
        set_end(ends);
}

static void expect_more(bool more) {
    if (more)
        atomic_store_explicit(&expected, true, memory_order_seq_cst);
}

/* The end of an epoch is done in steps, so that no malloc has to wait for all of it. `pause` is the
 * time since the thread's last visit: who comes rarely does more. */
static void end_epoch(uint64_t now, uint64_t pause) {
    static size_t left; /* dirty segments that this epoch still has to visit; under the lock */
    if (!hak_lock_try(&purge_lock))
        return; /* another thread is at it */
    if (left == 0) {
        expect_more(hak_heap_each_idle(hak_heap_trim_idle) != 0);
        hak_spare_release();
        left = hak_dirty_count();
        atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
    }
    bool at_once = hak_policy_now()->purge_delay_ms == 0;
    hak_dirty_purge(&left, STEP * (1 + pause / STEP_MS), at_once ? HAK_DIRTY_ALL : HAK_DIRTY_AGED);
    if (left == 0)
        start_epoch(now);
    else
        set_end(now); /* go on at the next visit */
    hak_lock_give(&purge_lock);
}

/* Under the purge lock, which it gives back. */
static void purge_some(size_t pages, enum hak_dirty_which which) {
    size_t entries = hak_dirty_count();
    hak_dirty_purge(&entries, pages, which);
    hak_lock_give(&purge_lock);
}

static void begin_epoch(void) {
    if (atomic_load_explicit(&expected, memory_order_relaxed) &&
        atomic_load_explicit(&epoch_ends_ms, memory_order_relaxed) != 0)
        return;
    expect_more(true);
    if (atomic_load(&epoch_ends_ms) == 0)
        set_end(hak_os_now_ms() + hak_policy_now()->purge_delay_ms);
}

void hak_purge_expect(void) {
    if (hak_policy_now()->purge_delay_ms == NEVER_MS)
        return;
    begin_epoch();
    size_t excess = hak_excess_pages();
    if (excess != 0 && hak_lock_try(&purge_lock))
        purge_some(excess, HAK_DIRTY_ALL);
}

/* Spare runs hold most of it; whoever finds another thread at work gives at least those back. */
void hak_purge_expect_huge(size_t pages, uint64_t faults) {
    if (hak_policy_now()->purge_delay_ms == NEVER_MS)
        return;
    begin_epoch();
    if (!hak_excess_huge(pages, faults))
        return;
    hak_excess_purged();
    hak_spare_purge();
    if (hak_lock_try(&purge_lock))
        purge_some(SIZE_MAX, HAK_DIRTY_WHOLE);
}

static size_t take_back(hak_heap *heap) {
    hak_remote_drain(heap);
    return 0;
}

/* First the blocks on their way travel to their owners, which may be any of the heaps. */
size_t hak_purge_all(hak_heap *own) {
    hak_lock_take(&purge_lock);
    hak_heap_each_idle(take_back);
    size_t bytes = own != NULL ? hak_heap_trim_now(own) : 0;
    bytes += hak_heap_each_idle(hak_heap_trim_now);
    hak_spare_release();
    size_t entries = hak_dirty_count();
    bytes += hak_dirty_purge(&entries, SIZE_MAX, HAK_DIRTY_ALL);
    hak_lock_give(&purge_lock);
    return bytes;
}

static void trim_once_per_epoch(hak_heap *heap) {
    uint32_t now = atomic_load_explicit(&epoch, memory_order_relaxed);
    if (heap->epoch_seen == now)
        return;
    heap->epoch_seen = now;
    heap->armed_at_ms = 0; /* emptying the magazines disarms them: arm them all again */
    if (hak_heap_trim(heap) != 0)
        hak_purge_expect();
}

/* True when the background thread ended an epoch behind this heap's back. */
static bool has_missed_one(const hak_heap *heap) {
    return hak_policy_now()->purge_thread != 0 &&
           heap->epoch_seen != atomic_load_explicit(&epoch, memory_order_relaxed);
}

void hak_purge_tick(hak_heap *heap, unsigned cls) {
    uint64_t ends = atomic_load_explicit(&epoch_ends_ms, memory_order_relaxed);
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
    uint64_t ends = atomic_load_explicit(&epoch_ends_ms, memory_order_relaxed);
    uint64_t now = hak_os_now_ms();
    if (ends != 0 && now >= ends)
        end_epoch(now, 0);
    ends = atomic_load_explicit(&epoch_ends_ms, memory_order_relaxed);
    return ends > now ? ends - now : ends != 0;
}

void hak_purge_before_fork(void) {
    hak_lock_take(&purge_lock);
}
void hak_purge_after_fork_in_parent(void) {
    hak_lock_give(&purge_lock);
}
void hak_purge_after_fork_in_child(void) {
    hak_excess_after_fork_in_child();
    hak_background_after_fork_in_child();
    hak_lock_reset(&purge_lock);
}
