/* Sampling: which mallocs a heap profile shows, and which blocks the sampled guard has.
 *
 * Bytes are counted, and where the count crosses a random distance there is a sample. Distances are
 * exponential with the rate as their mean, so a block of n bytes is a sample with the probability
 * 1 - exp(-n / rate), whatever came before it:
 *
 *   bytes asked for   |---a---|--b--|-c-|------d------|-e-|--f--|---g---| ...
 *   samples                ^ a                     ^ d            ^ g
 *
 * Blocks are counted in the same way, for the sampled guard (trap/trap.h): one in about as many as
 * its rate says is taken, whatever its size.
 *
 * The hot path does not count. In a heap that is counted every size leads to no class
 * (magazine/arm.h): so each malloc comes to hak_refill, is counted there, and pops from the real
 * magazine. free stays on its hot path, since a sample lies where its free comes to the slow path
 * by itself (front/sample.h), or outside of all ranges.
 *
 * A library for programs that are always sampled counts on the hot path (HAK_COUNT_MALLOCS): four
 * instructions of each malloc, whether something is picked or not. What is picked looks like an
 * empty magazine there.
 *
 * Hardened builds sample nothing: there the same way leads to canaries (pages/canaries.h).
 *
 * Source: the same estimate as in gperftools and jemalloc ("heap_v2"). */
#pragma once

#include "base/types.h"

/* Heap profiles. NEVER until the first start: then nothing is ever looked up. */
enum hak_sampling { HAK_SAMPLING_NEVER, HAK_SAMPLING_OFF, HAK_SAMPLING_ON };
extern HAK_HIDDEN _Atomic(unsigned) hak_sampling;

HAK_INLINE bool hak_sampling_ever(void) {
    return atomic_load_explicit(&hak_sampling, memory_order_acquire) != HAK_SAMPLING_NEVER;
}

/* What is in force for heaps: 0 until something is first counted, another number whenever that
 * changes. */
extern HAK_HIDDEN _Atomic(unsigned) hak_counting;

HAK_INLINE unsigned hak_counting_now(void) {
    return atomic_load_explicit(&hak_counting, memory_order_acquire);
}

/* Heaps look again at what is in force, at their next malloc. Also in a signal handler. */
void hak_counting_changes(void);

/* What a start needs: memory, and the unwinder, which may be loaded for it. False: out of memory.
 * Not in malloc. */
bool hak_sampling_prepare(void);

/* Counts from now on, one sample in `rate` bytes (1 or more). Any thread; others begin when they
 * next come to a slow path. */
void hak_sampling_start(uint64_t rate);
void hak_sampling_stop(void);
uint64_t hak_sampling_rate(void);

/* Starts and stops as the option of the rate says, from now on; `follow`: after it may have
 * changed. */
void hak_sampling_obey(void);
HAK_COLD void hak_sampling_follow(void);

/* The rate that the option has, or the one that is usual where that is 0. */
unsigned long hak_sampling_usual_rate(void);

/* Whether a heap profile is being made. */
bool hak_sampling_is_on(void);

/* Begins a heap profile at that rate, where all is prepared and none is being made; the option ends
 * it. */
HAK_COLD void hak_sampling_begin(void);

/* From now on one block in about `rate` (1 or more) is for the sampled guard. */
void hak_sampling_start_traps(uint64_t rate);

/* Leads the mallocs of a heap to the slow path, or back, as something is counted or not. True: a
 * heap profile is made. By the owner. */
bool hak_sampling_adopt(hak_heap *heap);

/* Whether the heap must adopt first. By the owner. */
HAK_INLINE bool hak_sampling_changed(const hak_heap *heap) {
    return heap->sampled.in_force != hak_counting_now();
}

/* What the malloc that did not pass is: NONE where the heap had to adopt. Traps come at the right
 * or left end of a page at random. By the owner. */
enum hak_pick { HAK_PICK_NONE, HAK_PICK_SAMPLE, HAK_PICK_TRAP_LEFT, HAK_PICK_TRAP_RIGHT };
enum hak_pick hak_sampling_pick(hak_heap *heap);

/* Counts bytes where a heap profile is made. True: what they were asked for is a sample. By the
 * owner. */
bool hak_sampling_is_due(hak_heap *heap, size_t bytes);

/* The class of a size up to HAK_MEDIUM_MAX, whatever the heap's own tables say. */
extern HAK_HIDDEN uint8_t hak_counted_small[HAK_SMALL_STEPS], hak_counted_medium[HAK_MEDIUM_STEPS];
HAK_INLINE unsigned hak_sampling_class(size_t size) {
    if (HAK_LIKELY(size <= HAK_SMALL_MAX))
        return hak_counted_small[((unsigned)size + 15) >> HAK_SMALL_STEP_SHIFT];
    return hak_counted_medium[((unsigned)size + 255) >> HAK_MEDIUM_STEP_SHIFT];
}
