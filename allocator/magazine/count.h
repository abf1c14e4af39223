/* Counting mallocs, for heap profiles and the sampled guard: sampling/sampling.h. By the owner of
 * the heap.
 *
 *   HAK_COUNT_MALLOCS   who counts                     a malloc costs more
 *   0                   the slow path: each malloc     33 instructions while something is counted,
 *                       is led there meanwhile         none otherwise
 *   1                   the hot path                   4 instructions, always */
#pragma once

#include "base/types.h"

/* The guard and hardened builds pick none of their mallocs. */
#define HAK_COUNTS (HAK_COUNT_MALLOCS && !HAK_GUARD && !HAK_HARDENED)

/* The size of a malloc that was counted already. */
#define HAK_IS_COUNTED SIZE_MAX

/* Each malloc of the heap comes to the slow path. */
HAK_INLINE bool hak_is_led_to_count(const hak_heap *heap) {
    return !HAK_COUNTS && heap->sampled.counted;
}

/* Subtracts as unsigned numbers do: so compilers look at the sign of the difference, in one
 * instruction, and need not keep what was there before. */
HAK_INLINE bool hak_count_down(int64_t *left, uint64_t by) {
    *left = (int64_t)((uint64_t)*left - by);
    return HAK_LIKELY(*left >= 0);
}

/* Counts one malloc. False: it is picked, for a sample or a trap. */
HAK_INLINE bool hak_count_passes(hak_heap *heap, size_t size) {
    return hak_count_down(&heap->sampled.sample_left, size) &&
           hak_count_down(&heap->sampled.trap_left, 1);
}

/* Counts one malloc where the hot path does it. True: it is picked. */
HAK_INLINE bool hak_count_picks(hak_heap *heap, size_t size) {
    if (!HAK_COUNTS || size == HAK_IS_COUNTED)
        return false;
    return HAK_UNLIKELY(!hak_count_passes(heap, size));
}
