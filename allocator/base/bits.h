/* Small arithmetic: powers of two, rounding, bit scans, checked products. Pure functions. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 hak_wide; /* products of two words */

HAK_INLINE bool hak_is_power_of_two(size_t x) {
    return x != 0 && (x & (x - 1)) == 0;
}

/* `unit` is a power of two; the caller has excluded overflow. */
HAK_INLINE size_t hak_round_up(size_t x, size_t unit) {
    return (x + unit - 1) & ~(unit - 1);
}
HAK_INLINE size_t hak_round_down(size_t x, size_t unit) {
    return x & ~(unit - 1);
}

HAK_INLINE size_t hak_least(size_t a, size_t b) {
    return a < b ? a : b;
}
HAK_INLINE size_t hak_most(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Index of the lowest / highest set bit; x is not zero. */
HAK_INLINE unsigned hak_lowest_bit(uint64_t x) {
    return (unsigned)__builtin_ctzll(x);
}
HAK_INLINE unsigned hak_highest_bit(uint64_t x) {
    return 63u - (unsigned)__builtin_clzll(x);
}
HAK_INLINE unsigned hak_count_bits(uint64_t x) {
    return (unsigned)__builtin_popcountll(x);
}

/* A mask of `count` ones from bit `first`; 1 <= count, first + count <= 32. */
HAK_INLINE uint32_t hak_mask32(unsigned first, unsigned count) {
    return (uint32_t)(((uint64_t)1 << count) - 1) << first;
}

/* The next random number; *state is not 0. Source: Vigna, "An experimental exploration of
 * Marsaglia's xorshift generators, scrambled" (2016): xorshift64*. */
HAK_INLINE uint64_t hak_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* A random number from 0 to below - 1; below < 2^32. */
HAK_INLINE size_t hak_random_up_to(uint64_t *state, size_t below) {
    return (size_t)((hak_random(state) >> 32) * below >> 32);
}

/* True when a * b does not fit into size_t; otherwise *product is set. */
HAK_INLINE bool hak_product_overflows(size_t a, size_t b, size_t *product) {
    return __builtin_mul_overflow(a, b, product);
}

/* Length of the longest run of ones in x: doubles the length while such runs exist, then adds the
 * smaller powers of two. Source: after Warren, Hacker's Delight, 2nd ed., ch. 6-3. */
HAK_INLINE unsigned hak_longest_run(uint32_t x) {
    uint32_t runs[6] = {x}; /* ones in runs[k]: runs of 2^k begin here */
    if (x == 0 || x == UINT32_MAX)
        return x == 0 ? 0 : 32;
    unsigned k = 0;
    for (; runs[k] != 0; k++)
        runs[k + 1] = runs[k] & (runs[k] >> (1u << k));
    k--;
    unsigned length = 1u << k;
    uint32_t longest = runs[k];
    while (k-- > 0) {
        uint32_t longer = longest & (runs[k] >> length);
        if (longer != 0) {
            longest = longer;
            length += 1u << k;
        }
    }
    return length;
}

/* First bit of the first run of `count` ones in x, or 32 when there is none. 1 <= count <= 32. */
HAK_INLINE unsigned hak_find_run(uint32_t x, unsigned count) {
    for (unsigned have = 1; have < count && x != 0;) {
        unsigned step = have < count - have ? have : count - have;
        x &= x >> step; /* bit i stays when a run of have + step ones starts at i */
        have += step;
    }
    return x != 0 ? hak_lowest_bit(x) : 32;
}
