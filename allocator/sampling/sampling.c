#include "sampling/sampling.h"

#include "base/bits.h"
#include "base/classes.h"
#include "magazine/arm.h"
#include "magazine/count.h"
#include "os/secret.h"
#include "os/stack.h"
#include "pages/canaries.h"
#include "pages/run_cache.h"
#include "policy/policy.h"
#include "sampling/distance.h"
#include "sampling/sites.h"

_Atomic(unsigned) hak_sampling, hak_counting;
static _Atomic uint64_t rate_now, trap_rate; /* of traps, 0: none */
uint8_t hak_counted_small[HAK_SMALL_STEPS], hak_counted_medium[HAK_MEDIUM_STEPS];

/* ---- what is due ---- */

static void draw_sample(hak_heap *heap) {
    uint64_t rate = heap->sampled.samples ? hak_sampling_rate() : 0;
    heap->sampled.sample_left = hak_distance(&heap->sampled.seed, rate);
}

static uint64_t traps_now(void) {
    return atomic_load_explicit(&trap_rate, memory_order_relaxed);
}

static void draw_trap(hak_heap *heap) {
    heap->sampled.trap_left = hak_distance(&heap->sampled.seed, traps_now());
}

bool hak_sampling_is_due(hak_heap *heap, size_t bytes) {
    if (hak_count_down(&heap->sampled.sample_left, bytes))
        return false;
    draw_sample(heap);
    return heap->sampled.samples;
}

/* Where malloc counts on its hot path, a new heap comes here before it has drawn anything. */
enum hak_pick hak_sampling_pick(hak_heap *heap) {
    if (hak_sampling_changed(heap)) {
        hak_sampling_adopt(heap);
    } else if (heap->sampled.sample_left < 0) {
        draw_sample(heap);
        return heap->sampled.samples ? HAK_PICK_SAMPLE : HAK_PICK_NONE;
    } else if (heap->sampled.trap_left < 0) {
        draw_trap(heap);
        if (traps_now() != 0)
            return hak_random(&heap->sampled.seed) >> 63 != 0 ? HAK_PICK_TRAP_RIGHT
                                                              : HAK_PICK_TRAP_LEFT;
    }
    return HAK_PICK_NONE;
}

/* ---- on and off ---- */

uint64_t hak_sampling_rate(void) {
    return atomic_load_explicit(&rate_now, memory_order_relaxed);
}

void hak_counting_changes(void) {
    atomic_fetch_add_explicit(&hak_counting, 1, memory_order_release);
}

static void prepare(void) {
    hak_os_stack_start();
    hak_classes_fill(hak_counted_small, hak_counted_medium);
}

bool hak_sampling_prepare(void) {
    if (!hak_sites_open())
        return false;
    prepare();
    return true;
}

bool hak_sampling_is_on(void) {
    return atomic_load_explicit(&hak_sampling, memory_order_relaxed) == HAK_SAMPLING_ON;
}

void hak_sampling_start(uint64_t rate) {
    atomic_store_explicit(&rate_now, rate, memory_order_relaxed);
    atomic_store_explicit(&hak_sampling, HAK_SAMPLING_ON, memory_order_release);
    hak_counting_changes();
}

void hak_sampling_stop(void) {
    if (!hak_sampling_ever())
        return;
    atomic_store_explicit(&hak_sampling, HAK_SAMPLING_OFF, memory_order_release);
    hak_counting_changes();
}

/* The first peak depends on the rate. */
static void start_as_asked(uint64_t rate) {
    hak_sampling_start(rate);
    hak_sites_watch_peak((unsigned)hak_policy_now()->profile_peak);
}

unsigned long hak_sampling_usual_rate(void) {
    unsigned long rate = hak_policy_now()->profile_rate;
    return rate != 0 ? rate : hak_options[HAK_OPTION_profile_rate].standard;
}

static _Atomic bool obeys;
static _Atomic uint64_t obeyed; /* the rate that the option had; 0: none */

/* A rate that the program set itself stands until the option changes. Two threads may follow at
 * once; one that used an older policy sees that at the end, and follows again. */
void hak_sampling_follow(void) {
    uint64_t rate;
    do {
        rate = hak_policy_now()->profile_rate;
        if (!atomic_load_explicit(&obeys, memory_order_acquire) ||
            atomic_exchange(&obeyed, rate) == rate)
            return;
        if (rate != 0)
            start_as_asked(rate);
        else
            hak_sampling_stop();
    } while (rate != hak_policy_now()->profile_rate);
}

void hak_sampling_obey(void) {
    atomic_store_explicit(&obeys, true, memory_order_release);
    hak_sampling_follow();
}

void hak_sampling_begin(void) {
    if (hak_policy_now()->profile_rate == 0)
        hak_policy_change_to(HAK_OPTION_profile_rate, hak_sampling_usual_rate());
    hak_sampling_obey();
    if (!hak_sampling_is_on()) /* it was on once, and ended by another way than the option */
        start_as_asked(hak_sampling_usual_rate());
}

void hak_sampling_start_traps(uint64_t rate) {
    prepare();
    atomic_store_explicit(&trap_rate, rate, memory_order_relaxed);
    hak_counting_changes();
}

/* ---- heaps ---- */

static HAK_COLD void begin_counting(hak_heap *heap) {
    heap->sampled.counted = true;
    heap->sampled.seed =
        (uint64_t)hak_secret ^ (uint64_t)(uintptr_t)heap ^ UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned cls = 1; cls < HAK_CLASSES && !HAK_COUNTS; cls++)
        hak_lead_malloc_away(heap, cls);
}

static HAK_COLD void end_counting(hak_heap *heap) {
    heap->sampled.counted = false;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (!hak_malloc_is_led_away(heap, cls))
            hak_lead_malloc_back(heap, cls);
}

/* Distances have no memory, so those that are drawn again are as good as the ones before. */
static HAK_COLD void adopt(hak_heap *heap) {
    bool samples = hak_sampling_is_on();
    bool counted = samples || traps_now() != 0;
    if (HAK_HARDENED)
        counted = hak_canary_bytes() != 0; /* nothing else leads malloc away there */
    if (counted && !heap->sampled.counted)
        begin_counting(heap);
    if (!counted && heap->sampled.counted)
        end_counting(heap);
    if (samples && !heap->sampled.samples)
        hak_run_cache_empty(heap, false);
    heap->sampled.samples = samples;
    draw_sample(heap);
    draw_trap(heap);
}

bool hak_sampling_adopt(hak_heap *heap) {
    unsigned now = hak_counting_now();
    if (HAK_UNLIKELY(heap->sampled.in_force != now)) {
        heap->sampled.in_force = now;
        adopt(heap);
    }
    return heap->sampled.samples;
}
