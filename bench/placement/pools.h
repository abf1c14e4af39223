/* What policies share: keys with their blocks, and the frontier of new addresses. */
#ifndef PLACEMENT_POOLS_H
#define PLACEMENT_POOLS_H

#include <stdlib.h>

#include "policies.h"

enum { ALIGN = 16 };
#define PLACEMENT_SPACE (1ull << 36)

/* Blocks of one key. Lists: the free ones, newest first. Chunks: those in use, by chunk. */
typedef struct pool {
    uint64_t top, end; /* what is left of the unit taken last */
    uint64_t free;
} pool;

/* A word beside each 16 bytes of the policy's room. */
static inline uint64_t *next_of(policy *it, uint64_t at) {
    return (uint64_t *)it->next + (at - it->base) / ALIGN;
}

static inline uint64_t advance(policy *it, uint64_t bytes) {
    uint64_t at = it->frontier;
    it->frontier += bytes;
    if (it->frontier > it->base + PLACEMENT_SPACE)
        abort();
    return at;
}

uint64_t take_in_chunk(policy *it, const block *of);
void give_in_chunk(policy *it, const block *of, uint64_t at);

#endif
