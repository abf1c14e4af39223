/* Fetching ahead the block that the next malloc of a class will hand out: for programs whose blocks
 * have left the cache when they come back. How many lines is a constant of the build; by default
 * none, and then there is no instruction for it. */
#pragma once

#include "base/geometry.h"

/* A hint: NULL, or lines beyond the end of a block, do no harm. */
HAK_INLINE void hak_fetch_ahead(const void *block) {
    for (int line = 0; line < HAK_PREFETCH_LINES; line++)
        HAK_FETCH((const char *)block + (size_t)line * HAK_CACHE_LINE);
}
