/* Sampling: which mallocs a heap profile shows.
 *
 * Bytes are counted, and where the count crosses a random distance there is a sample. Distances are
 * exponential with the rate as their mean, so a block of n bytes is a sample with the probability
 * 1 - exp(-n / rate), whatever came before it:
 *
 *   bytes asked for   |---a---|--b--|-c-|------d------|-e-|--f--|---g---| ...
 *   samples                ^ a                     ^ d            ^ g
 *
 * The hot path does not count. In a heap that samples every size leads to no class
 * (magazine/arm.h): so each malloc comes to hak_refill, is counted there, and pops from the real
 * magazine. free stays on its hot path, since a sample lies in a large run of its own, which comes
 * to the slow path by itself.
 *
 * Source: the same estimate as in gperftools and jemalloc ("heap_v2"). */
#ifndef HAK_SAMPLING_SAMPLING_H
#define HAK_SAMPLING_SAMPLING_H

#include "base/types.h"

#include <stdatomic.h>

/* NEVER until the first start: then nothing is ever looked up. */
enum hak_sampling { HAK_SAMPLING_NEVER, HAK_SAMPLING_OFF, HAK_SAMPLING_ON };
extern HAK_HIDDEN _Atomic(unsigned) hak_sampling;

HAK_INLINE bool hak_sampling_ever(void) {
    return atomic_load_explicit(&hak_sampling, memory_order_acquire) != HAK_SAMPLING_NEVER;
}

/* Counts from now on, one sample in `rate` bytes (1 or more). False: out of memory. Any thread;
 * others begin when they next come to a slow path. */
bool hak_sampling_start(uint64_t rate);
void hak_sampling_stop(void);
uint64_t hak_sampling_rate(void);

/* Leads the mallocs of a heap to the slow path, or back, as sampling is on or off. True: it is on.
 * By the owner. */
bool hak_sampling_adopt(hak_heap *heap);

/* Counts bytes. True: what they were asked for is a sample. By the owner. */
bool hak_sampling_is_due(hak_heap *heap, size_t bytes);

/* The class of a size up to HAK_MEDIUM_MAX, whatever the heap's own tables say. */
unsigned hak_sampling_class(size_t size);

#endif
