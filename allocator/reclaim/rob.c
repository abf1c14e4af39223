#include "reclaim/rob.h"

#include "magazine/arm.h"
#include "os/barrier.h"
#include "policy/policy.h"

static bool may_be_robbed(const hak_seat *seat) {
    return hak_seat_state(seat) == HAK_HEAP_ACTIVE &&
           !atomic_load_explicit(&seat->heap->busy, memory_order_relaxed);
}

bool hak_has_something(const hak_seat *seat, const hak_round *unused) {
    (void)unused;
    return (hak_claim_of(seat->heap) & HAK_CLAIM_SETTLED) == 0 || hak_seat_has_mail(seat);
}

static bool was_trimmed(const hak_heap *heap, uint32_t epoch) {
    return (hak_claim_of(heap) & HAK_CLAIM_SETTLED) != 0 &&
           atomic_load_explicit(&heap->trim.epoch, memory_order_relaxed) == epoch;
}

bool hak_is_away(const hak_seat *seat, const hak_round *round) {
    const hak_heap *heap = seat->heap;
    return hak_seen_at_ms(heap) + hak_policy_now()->purge_delay_ms <= round->now_ms &&
           !was_trimmed(heap, round->epoch) && hak_has_something(seat, round);
}

static void add(hak_robbed *robbed, hak_heap *heap) {
    heap->robbed = true;
    robbed->are_empty[robbed->count] = false;
    robbed->heaps[robbed->count++] = heap;
}

/* Those that are busy, and all where there is no barrier, stay their owners'. False: there is none.
 */
static bool keep(hak_robbed *robbed) {
    bool all_stay = !hak_os_barrier();
    size_t count = robbed->count;
    robbed->count = 0;
    for (size_t i = 0; i < count; i++) {
        hak_heap *heap = robbed->heaps[i];
        if (all_stay || atomic_load_explicit(&heap->busy, memory_order_acquire))
            atomic_fetch_and_explicit(&heap->claim, (uint8_t)~HAK_CLAIM_ROBBED,
                                      memory_order_release);
        else
            add(robbed, heap);
    }
    return !all_stay;
}

hak_seat *hak_rob(hak_robbed *robbed, hak_seat *seat, size_t most, hak_is_wanted *is_wanted,
                  const hak_round *round) {
    robbed->count = 0;
    for (; seat != NULL && robbed->count < most; seat = seat->registry_next) {
        if (!may_be_robbed(seat) || !is_wanted(seat, round))
            continue;
        atomic_fetch_or_explicit(&seat->heap->claim, HAK_CLAIM_ROBBED, memory_order_relaxed);
        robbed->heaps[robbed->count++] = seat->heap;
    }
    bool can = robbed->count == 0 || keep(robbed);
    return can ? seat : NULL;
}

void hak_rob_release(hak_heap *heap, bool settled) {
    unsigned holes = hak_claim_of(heap) & HAK_CLAIM_HOLES, what = settled ? HAK_CLAIM_SETTLED : 0;
    heap->robbed = false;
    atomic_store_explicit(&heap->claim, (uint8_t)(holes | what), memory_order_release);
}
