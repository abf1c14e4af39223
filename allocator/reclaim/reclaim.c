#include "reclaim/reclaim.h"

#include "bin/bin.h"
#include "magazine/arm.h"
#include "magazine/magazine.h"
#include "os/barrier.h"
#include "pages/dirty.h"
#include "policy/policy.h"
#include "reclaim/robbed_magazines.h"
#include "reclaim/trim.h"

static hak_robbed robbed; /* under hak_reclaim_lock */

/* ---- heaps that a reclaimer has for itself ---- */

/* A round of visits to the heaps that `wants` chooses. It may ask for the time, for how long the
 * owner must have been away, and for the epoch that begins when all are visited. */
typedef struct round {
    bool (*wants)(const hak_seat *seat, const struct round *r);
    uint64_t now_ms, away_ms;
    uint32_t epoch;
} round;

static uint8_t claim_of(const hak_heap *heap) {
    return atomic_load_explicit(&heap->claim, memory_order_relaxed);
}

static bool is_settled(const hak_heap *heap) {
    return (claim_of(heap) & HAK_CLAIM_SETTLED) != 0;
}

static bool is_away(const hak_heap *heap, const round *r) {
    return hak_seen_at_ms(heap) + r->away_ms <= r->now_ms;
}

/* There may be something to take: blocks of the heap, or blocks that others freed for it. */
static bool has_something(const hak_seat *seat, const round *r) {
    (void)r;
    return !is_settled(seat->heap) || hak_seat_has_mail(seat);
}

/* This round has not been there yet. Blocks that its later visits send to this heap wait for the
 * next round. */
static bool has_to_be_trimmed(const hak_seat *seat, const round *r) {
    bool was_there = is_settled(seat->heap) && hak_trim_epoch(seat->heap) == r->epoch;
    return is_away(seat->heap, r) && !was_there && has_something(seat, r);
}

static bool has_mail(const hak_seat *seat, const round *r) {
    return hak_seat_has_mail(seat) && is_away(seat->heap, r);
}

static bool is_wanted(const hak_seat *seat, const round *r) {
    return hak_seat_state(seat) == HAK_HEAP_ACTIVE && r->wants(seat, r) &&
           !atomic_load_explicit(&seat->heap->busy, memory_order_relaxed);
}

static void add(hak_heap *heap) {
    heap->robbed = true;
    robbed.are_empty[robbed.count] = false;
    robbed.heaps[robbed.count++] = heap;
}

/* Drops the heaps whose owners are busy. False: the system refuses the barrier, so all are
 * dropped. */
static bool keep(void) {
    bool all_stay = !hak_os_barrier();
    size_t count = robbed.count;
    robbed.count = 0;
    for (size_t i = 0; i < count; i++) {
        hak_heap *heap = robbed.heaps[i];
        if (all_stay || atomic_load_explicit(&heap->busy, memory_order_acquire))
            atomic_fetch_and_explicit(&heap->claim, (uint8_t)~HAK_CLAIM_ROBBED,
                                      memory_order_release);
        else
            add(heap);
    }
    return !all_stay;
}

/* Robs at most `most` heaps from this seat on that the round wants. Returns where to go on; NULL:
 * that was the last, or none can be robbed, as the system refuses the barrier. */
static hak_seat *rob(hak_seat *seat, size_t most, const round *r) {
    robbed.count = 0;
    for (; seat != NULL && robbed.count < most; seat = seat->registry_next) {
        if (!is_wanted(seat, r))
            continue;
        atomic_fetch_or_explicit(&seat->heap->claim, HAK_CLAIM_ROBBED, memory_order_relaxed);
        robbed.heaps[robbed.count++] = seat->heap;
    }
    return robbed.count == 0 || keep() ? seat : NULL;
}

/* Gives the heap back to its owner. `settled`, until the owner comes by: nothing was left to do. */
static void release(hak_heap *heap, bool settled) {
    unsigned holes = claim_of(heap) & HAK_CLAIM_HOLES, what = settled ? HAK_CLAIM_SETTLED : 0;
    heap->robbed = false;
    atomic_store_explicit(&heap->claim, (uint8_t)(holes | what), memory_order_release);
}

/* ---- what lies free in them ---- */

/* Nothing of a robbed heap waits for a later epoch. False: the trim has to go on. */
static bool settle(hak_heap *heap, uint32_t epoch, size_t *budget) {
    if (hak_heap_trim(heap, epoch, budget) == HAK_TRIM_GOES_ON)
        return false;
    hak_magazines_purge_armed(heap);
    return true;
}

bool hak_reclaim_some(uint64_t now, uint32_t epoch, size_t budget) {
    const round r = {has_to_be_trimmed, now, hak_policy_now()->purge_delay_ms, epoch};
    hak_lock_take(&hak_reclaim_lock);
    bool all = rob(hak_seat_first(), HAK_FEW_SEATS, &r) == NULL;
    size_t cost = robbed.count != 0 ? hak_robbed_empty_some(&robbed) / HAK_TRIM_SHARE : 0;
    budget -= cost < budget ? cost : budget;
    for (size_t i = 0; i < robbed.count; i++) {
        hak_heap *heap = robbed.heaps[i];
        bool settled = robbed.are_empty[i] && settle(heap, epoch, &budget);
        all = all && settled;
        release(heap, settled);
    }
    hak_lock_give(&hak_reclaim_lock);
    return all;
}

static const round everywhere = {.wants = has_something};

/* The magazines of one heap may hold blocks of another, so all magazines are emptied first. */
static void empty_all(void) {
    for (hak_seat *seat = hak_seat_first(); seat != NULL;) {
        hak_lock_take(&hak_reclaim_lock);
        seat = rob(seat, HAK_FEW_SEATS, &everywhere);
        while (robbed.count != 0 && hak_robbed_empty_some(&robbed) != 0) {
        }
        for (size_t i = 0; i < robbed.count; i++)
            release(robbed.heaps[i], false);
        hak_lock_give(&hak_reclaim_lock);
    }
}

size_t hak_reclaim_all(void) {
    size_t bytes = 0;
    empty_all();
    for (hak_seat *seat = hak_seat_first(); seat != NULL;) {
        hak_lock_take(&hak_reclaim_lock);
        seat = rob(seat, 1, &everywhere);
        if (robbed.count != 0) {
            bytes += hak_heap_trim_robbed(robbed.heaps[0]);
            bytes += hak_magazines_purge_armed(robbed.heaps[0]);
            release(robbed.heaps[0], true);
        }
        hak_lock_give(&hak_reclaim_lock);
    }
    return bytes;
}

/* ---- what others have freed to them ---- */

/* False: it has to go on. */
static bool take_home(hak_heap *heap, size_t *carriers) {
    if (!hak_drain_some(heap, carriers))
        return false;
    hak_heap_release_empty(heap);
    return true;
}

bool hak_reclaim_mail(uint64_t now) {
    const round r = {.wants = has_mail, .now_ms = now, .away_ms = HAK_MOMENT_MS};
    size_t carriers = HAK_STEP;
    hak_lock_take(&hak_reclaim_lock);
    bool all = rob(hak_seat_first(), HAK_FEW_SEATS, &r) == NULL;
    for (size_t i = 0; i < robbed.count; i++) {
        all = take_home(robbed.heaps[i], &carriers) && all;
        release(robbed.heaps[i], false);
    }
    hak_lock_give(&hak_reclaim_lock);
    return all;
}
