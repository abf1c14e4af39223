#include "sampling/sampling.h"

#include "base/classes.h"
#include "magazine/arm.h"
#include "os/secret.h"
#include "os/stack.h"
#include "pages/run_cache.h"
#include "sampling/sites.h"

#include <string.h>

_Atomic(unsigned) hak_sampling;
static _Atomic uint64_t rate_now;
static uint8_t class_of_small[HAK_SMALL_STEPS], class_of_medium[HAK_MEDIUM_STEPS];

/* ---- distances ---- */

/* Source: Marsaglia, "Xorshift RNGs" (2003); Vigna's multiplier. */
static uint64_t draw(hak_heap *heap) {
    uint64_t x = heap->sample_seed;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    heap->sample_seed = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* -ln(x) for x in (0, 1]: the exponent of x, and the series of atanh for what is left. libm would
 * be another library. Off by less than 0.00002. */
static double minus_ln(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52);
    double m, ln2 = 0.6931471805599453;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), q = s * s;
    return -(exponent * ln2 + 2 * s * (1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7)))));
}

static int64_t distance(hak_heap *heap) {
    double uniform = ((double)(draw(heap) >> 11) + 1) * 0x1p-53;
    double far = minus_ln(uniform) * (double)hak_sampling_rate();
    return far < 0x1p62 ? (int64_t)far : INT64_MAX / 2;
}

bool hak_sampling_is_due(hak_heap *heap, size_t bytes) {
    heap->sample_left -= (int64_t)(bytes < (size_t)1 << 62 ? bytes : (size_t)1 << 62);
    if (HAK_LIKELY(heap->sample_left >= 0))
        return false;
    heap->sample_left = distance(heap);
    return true;
}

/* ---- on and off ---- */

uint64_t hak_sampling_rate(void) {
    return atomic_load_explicit(&rate_now, memory_order_relaxed);
}

bool hak_sampling_start(uint64_t rate) {
    if (!hak_sites_open())
        return false;
    hak_os_stack_start();
    hak_classes_fill(class_of_small, class_of_medium);
    atomic_store_explicit(&rate_now, rate, memory_order_relaxed);
    atomic_store_explicit(&hak_sampling, HAK_SAMPLING_ON, memory_order_release);
    return true;
}

void hak_sampling_stop(void) {
    if (hak_sampling_ever())
        atomic_store_explicit(&hak_sampling, HAK_SAMPLING_OFF, memory_order_release);
}

static HAK_COLD void begin_counting(hak_heap *heap) {
    heap->samples = true;
    heap->sample_seed =
        (uint64_t)hak_secret ^ (uint64_t)(uintptr_t)heap ^ UINT64_C(0x9e3779b97f4a7c15);
    heap->sample_left = distance(heap);
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        hak_lead_malloc_away(heap, cls);
    hak_run_cache_empty(heap, false);
}

static HAK_COLD void end_counting(hak_heap *heap) {
    heap->samples = false;
    for (unsigned cls = 1; cls < HAK_CLASSES; cls++)
        if (!hak_malloc_is_led_away(heap, cls))
            hak_lead_malloc_back(heap, cls);
}

bool hak_sampling_adopt(hak_heap *heap) {
    bool on = atomic_load_explicit(&hak_sampling, memory_order_relaxed) == HAK_SAMPLING_ON;
    if (HAK_LIKELY(heap->samples == on))
        return on;
    if (on)
        begin_counting(heap);
    else
        end_counting(heap);
    return on;
}

unsigned hak_sampling_class(size_t size) {
    return size <= HAK_SMALL_MAX ? class_of_small[(size + 15) >> HAK_SMALL_STEP_SHIFT]
                                 : class_of_medium[(size + 255) >> HAK_MEDIUM_STEP_SHIFT];
}
