/* A number that differs from process to process, for what must not be foreseen. */
#pragma once

#include "base/attributes.h"

#include <stdint.h>

/* 0 until it is chosen; a forked child has that of its parent. */
extern HAK_HIDDEN uintptr_t hak_secret;

/* Chooses it, if it is not yet. One thread at a time; no system call where the kernel gave the
 * process random bytes at its start. */
void hak_secret_choose(void);

/* Word 0 or 1 of the random bytes that the kernel gave the process at its start; 0: there are none.
 */
uint64_t hak_given_at_start(unsigned word);

/* Mixes bits well. Source: Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators"
 * (2014), SplitMix64. */
HAK_INLINE uint64_t hak_mixed(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
