#include "reclaim/purge.h"

#include "bin/bin.h"
#include "heap/heap.h"
#include "heap/seat.h"
#include "limits/limit.h"
#include "magazine/arm.h"
#include "os/lock.h"
#include "os/os.h"
#include "pages/dirty.h"
#include "pages/dirty_list.h"
#include "pages/epoch.h"
#include "pages/quota.h"
#include "pages/spare.h"
#include "policy/policy.h"
#include "reclaim/abandon.h"
#include "reclaim/background.h"
#include "reclaim/follow.h"
#include "reclaim/reclaim.h"
#include "reclaim/stale.h"
#include "reclaim/trim.h"

/* At most so many steps at a visit (pages/dirty.h), however long the thread was away. */
enum { MOST_STEPS = 8 };

/* A thread that comes rarely does more: a step for each moment since its last visit. The first
 * visit is one step. */
static size_t steps_for(const hak_heap *heap, uint64_t now) {
    uint64_t seen = hak_seen_at_ms(heap), pause = seen != 0 ? now - seen : 0;
    uint64_t steps = 1 + pause / HAK_MOMENT_MS;
    return steps < MOST_STEPS ? steps : MOST_STEPS;
}

/* A step of the trim of all heaps without a thread. */
typedef struct idle_step {
    uint32_t epoch; /* the one that begins when it is done */
    size_t budget;
    bool goes_on;
} idle_step;

static size_t trim_idle(hak_heap *heap, void *context) {
    idle_step *step = context;
    enum hak_trimmed left = hak_heap_trim_idle(heap, step->epoch, &step->budget);
    step->goes_on |= left == HAK_TRIM_GOES_ON;
    return left != HAK_TRIM_NOTHING;
}

/* False: it has to go on. */
static bool trim_idle_heaps(size_t steps) {
    idle_step step = {.epoch = hak_epoch_number() + 1, .budget = HAK_STEP * steps};
    if (hak_heap_each_idle(trim_idle, &step) != 0)
        hak_epoch_expect_more();
    return !step.goes_on;
}

/* False: it has to go on. Epochs may be short, so a round of visits begins once in a moment at
 * most. */
static bool trim_sleeping_heaps(uint64_t now, size_t steps) {
    static uint64_t next_ms;
    static bool goes_on;
    if (!goes_on && now < next_ms) {
        hak_epoch_expect_more();
        return true;
    }
    next_ms = now + HAK_MOMENT_MS;
    goes_on = !hak_reclaim_some(now, hak_epoch_number() + 1, HAK_STEP * steps);
    if (goes_on)
        hak_epoch_expect_more();
    else
        hak_abandoned_find();
    return !goes_on;
}

/* First come the heaps: those without a thread, and those of threads that sleep. Their empty slabs
 * become dirty pages. Then come the spare runs, and last all dirty pages. True: all is done. Under
 * the purge lock. */
static bool end_some(uint64_t now, size_t steps) {
    static size_t left; /* dirty segments that this epoch still has to visit */
    bool at_once = hak_policy_now()->purge_delay_ms == 0;
    if (left == 0) {
        if (!trim_idle_heaps(steps) || !trim_sleeping_heaps(now, steps))
            return false;
        hak_spare_release();
        left = hak_dirty_count();
        hak_epoch_count();
    }
    hak_dirty_purge(&left, HAK_STEP * steps, at_once ? HAK_DIRTY_ALL : HAK_DIRTY_AGED);
    return left == 0;
}

static void end_epoch(uint64_t now, size_t steps) {
    if (!hak_lock_try(&hak_purge_lock))
        return; /* another thread is at it */
    hak_follow_the_file();
    hak_limit_look();
    if (!hak_policy_purges() || end_some(now, steps))
        hak_epoch_start(now);
    else
        hak_epoch_end_at(now);               /* go on at the next visit */
    if (HAK_UNLIKELY(hak_follow_is_asked())) /* just now: this epoch did not serve it */
        hak_epoch_end_at(now);
    hak_lock_give(&hak_purge_lock);
}

/* What comes back lies in the heap's magazines, so there is something to do in it now. */
static size_t take_back(hak_heap *heap, void *unused) {
    (void)unused;
    hak_drain(heap);
    heap->seat->settled = false;
    return 0;
}

static size_t trim_now(hak_heap *heap, void *unused) {
    (void)unused;
    size_t bytes = hak_heap_trim_now(heap);
    heap->seat->settled = true; /* nothing waits any more */
    return bytes;
}

/* First the blocks on their way travel to their owners, which may be any of the heaps. */
size_t hak_purge_all(hak_heap *own) {
    hak_lock_take(&hak_purge_lock);
    hak_heap_each_idle(take_back, NULL);
    size_t bytes = own != NULL ? hak_heap_trim_now(own) : 0;
    bytes += hak_reclaim_all() + hak_heap_each_idle(trim_now, NULL);
    hak_spare_release();
    bytes += hak_dirty_purge_any(SIZE_MAX);
    hak_lock_give(&hak_purge_lock);
    return bytes;
}

/* At most one step of a trim in each tick of the clock: the thread has its own work to do. */
static void trim_once_per_epoch(hak_heap *heap, uint64_t now) {
    uint32_t epoch = hak_epoch_number();
    bool goes_on = heap->trim.cls != 0;
    if (goes_on ? hak_seen_at_ms(heap) == now : hak_trim_epoch(heap) == epoch)
        return;
    size_t budget = HAK_STEP * steps_for(heap, now);
    heap->arming.at_ms = 0; /* emptying the magazines disarms them: arm them all again */
    if (hak_heap_trim(heap, epoch, &budget) != HAK_TRIM_NOTHING)
        hak_purge_expect();
}

/* A slab took new memory, although blocks may wait for threads that sleep. These blocks go back to
 * their slabs now, so that the next ones find room. When none are left, the next try is in the next
 * tick of the clock: no owner can be seen to sleep before that. Above a limit the thread also gives
 * back what it keeps of other classes. */
static HAK_DOOR void make_up_for_growth(hak_heap *heap, uint64_t now) {
    static _Atomic uint64_t done_ms;
    heap->grew = false;
    if (hak_quota_is_near(0))
        hak_heap_flush(heap);
    if (atomic_load_explicit(&done_ms, memory_order_relaxed) == now ||
        !hak_lock_try(&hak_purge_lock))
        return;
    if (hak_reclaim_mail(now))
        atomic_store_explicit(&done_ms, now, memory_order_relaxed);
    hak_lock_give(&hak_purge_lock);
}

/* True when its trim goes on, or the background thread ended an epoch behind this heap's back. */
static bool is_behind(const hak_heap *heap) {
    return heap->trim.cls != 0 ||
           (hak_policy_now()->purge_thread != 0 && hak_trim_epoch(heap) != hak_epoch_number());
}

/* A thread may fall asleep with what it has just taken or freed, so each visit begins an epoch. A
 * visit of the first thread does not: a program with one thread goes on using its magazines. */
void hak_purge_tick(hak_heap *heap, unsigned cls) {
    if (!hak_seat_is_oldest(heap->seat))
        hak_purge_expect_sleep();
    uint64_t ends = hak_epoch_ends_ms();
    if (ends == 0 && !is_behind(heap))
        return;
    uint64_t now = hak_os_now_ms();
    if (ends != 0 && now >= ends)
        end_epoch(now, steps_for(heap, now));
    trim_once_per_epoch(heap, now);
    if (heap->took)
        hak_stale_look(heap, now);
    if (HAK_UNLIKELY(heap->grew))
        make_up_for_growth(heap, now);
    if (hak_purge_is_pending()) {
        hak_background_wake();
        hak_arm(heap, cls, now);
    }
}

uint64_t hak_purge_due(void) {
    uint64_t ends = hak_epoch_ends_ms();
    uint64_t now = hak_os_now_ms();
    if (ends != 0 && now >= ends)
        end_epoch(now, 1);
    ends = hak_epoch_ends_ms();
    return ends > now ? ends - now : ends != 0;
}

/* The lock guards only how far the purge has come: the next one begins anew. */
void hak_purge_after_fork_in_child(void) {
    hak_lock_inherit(&hak_purge_lock);
    hak_background_after_fork_in_child();
}
