#include "cold/excess.h"

#include "base/geometry.h"
#include "cold/segment.h"
#include "os/lock.h"
#include "os/os.h"
#include "policy/policy.h"

enum {
    SHARE_OF_HIGHEST = 8, /* of huge blocks an eighth of the highest resident memory may wait */
    PAUSE = 2 /* purge delays between two teardowns that have nothing to do with each other */
};

static hak_lock lock; /* guards all of the below; innermost */

/* ---- pages ---- */

static uint64_t seen_at_ms; /* a teardown, at first the start of the process */

void hak_excess_start(void) {
    seen_at_ms = hak_os_now_ms();
}

/* A teardown goes on while less and less is in use. One that begins soon after another, or soon
 * after the start, may belong to a program that builds up and tears down in turn. */
static bool is_rare(size_t used) {
    static size_t used_before;
    static bool rare;
    uint64_t now = hak_os_now_ms();
    if (used > used_before)
        rare = now - seen_at_ms > PAUSE * hak_policy_now()->purge_delay_ms;
    used_before = used;
    seen_at_ms = now;
    return rare;
}

size_t hak_excess_pages(void) {
    size_t dirty = hak_pages_dirty(), used = hak_pages_used();
    size_t allowed =
        used / HAK_KEEP_SHARE > HAK_KEEP_PAGES ? used / HAK_KEEP_SHARE : HAK_KEEP_PAGES;
    if (dirty <= allowed || !hak_lock_try(&lock))
        return 0;
    bool rare = is_rare(used);
    hak_lock_give(&lock);
    return rare ? dirty - allowed / 2 : 0;
}

/* ---- huge blocks ---- */

static _Atomic uint64_t faults_seen;

uint64_t hak_excess_faults(void) {
    return atomic_load_explicit(&faults_seen, memory_order_relaxed);
}

/* At most so many bytes of one fault can be resident. */
static size_t bytes_per_fault(void) {
    unsigned long mode = hak_policy_now()->huge_pages;
    bool huge = mode == HAK_HUGE_SYSTEM || mode == HAK_HUGE_ALWAYS;
    return huge ? HAK_SEGMENT_SIZE : hak_os_page_size();
}

/* Faults at the last purge of huge blocks; and those that blocks freed since then, but taken
 * before, had taken up to it. */
static uint64_t purged_at, carried;

/* Bytes of freed huge blocks that may be resident. */
static size_t resident(size_t pages, uint64_t faults, uint64_t now) {
    size_t unit = bytes_per_fault(), most = (pages << HAK_PAGE_SHIFT) / unit + 1;
    if (faults < purged_at)
        carried += purged_at - faults < most ? purged_at - faults : most;
    return (size_t)(carried + now - purged_at) * unit;
}

bool hak_excess_huge(size_t pages, uint64_t faults) {
    size_t highest;
    uint64_t now = hak_os_faults(&highest);
    size_t allowed = hak_policy_now()->huge_keep_kib * 1024;
    if (allowed < highest / SHARE_OF_HIGHEST)
        allowed = highest / SHARE_OF_HIGHEST;
    if (!hak_lock_try(&lock))
        return false;
    atomic_store_explicit(&faults_seen, now, memory_order_relaxed);
    bool excess = resident(pages, faults, now) > allowed;
    hak_lock_give(&lock);
    return excess;
}

void hak_excess_purged(void) {
    hak_lock_take(&lock);
    purged_at = hak_excess_faults();
    carried = 0;
    hak_lock_give(&lock);
}

void hak_excess_after_fork_in_child(void) {
    hak_lock_reset(&lock);
}
