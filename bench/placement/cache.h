/* Three levels of data cache and two of TLB (the cache of page tables), least recently used first
 * out. No prefetching: a real processor hides misses whose addresses rise. */
#ifndef PLACEMENT_CACHE_H
#define PLACEMENT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cache {
    uint64_t *tags;
    unsigned sets, ways, shift;
    uint64_t misses;
} cache;

enum { LEVEL_D1, LEVEL_L2, LEVEL_LL, LEVEL_TLB, LEVEL_TLB2, LEVELS };

typedef struct caches {
    cache level[LEVELS];
    uint64_t of_blocks; /* misses of the second level that were in small blocks */
} caches;

void caches_make(caches *all);
void caches_touch(caches *all, uint64_t address, unsigned bytes, bool in_block);

#endif
