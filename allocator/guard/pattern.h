/* Bytes that must not change: runs of one value, filled and compared at the speed of memory. */
#ifndef HAK_GUARD_PATTERN_H
#define HAK_GUARD_PATTERN_H

#include "base/bytes.h"
#include "os/secret.h"

#include <stdint.h>

/* What a freed block is filled with: read as a pointer it is none of x86-64's. */
enum { HAK_FREED_BYTE = 0xdb };

/* The canary of a block: another one in each process and behind each block, and never 0, which is
 * what programs most often write too far. */
static inline int hak_canary(const void *block) {
    uint64_t mixed = ((uintptr_t)block ^ hak_secret) * UINT64_C(0x9e3779b97f4a7c15);
    return (int)(1 + (mixed >> 32) % 255);
}

/* The byte of a canary that touches the block: another value, nor 0 either. So no run of one value
 * that a program writes too far can be taken for the canary.
 *
 *   | c  c  c  c' | block | c' c  c  c | */
static inline int hak_canary_beside(int canary) {
    return canary % 255 + 1;
}

#endif
