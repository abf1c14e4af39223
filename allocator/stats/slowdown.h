/* A slowdown of known size, for the judge's check of itself (docs/judging.md). Only a build with
 * HAK_SLOWDOWN has it; in any other build not one instruction of it is left.
 *
 * Every 256th malloc of a thread waits for HAKMEM_SLOWDOWN rounds of a loop beyond the few it
 * always waits for, and runs HAKMEM_BLOAT (0 to 256) cache lines of code that nothing else runs. So
 * one file is both sides of a comparison, and the loss is in proportion to the rounds, the misses
 * to the lines. */
#pragma once

#include "base/attributes.h"

extern HAK_HIDDEN HAK_TLS unsigned char hak_mallocs_seen;
HAK_DOOR void hak_wait(void);

HAK_INLINE void hak_slow_down(void) {
    if (HAK_SLOWDOWN && HAK_UNLIKELY(++hak_mallocs_seen == 0))
        hak_wait();
}
