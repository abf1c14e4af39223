/* Where small blocks lie: each policy is an allocator of addresses, without memory behind them. */
#ifndef PLACEMENT_POLICIES_H
#define PLACEMENT_POLICIES_H

#include "blocks.h"

typedef struct policy policy;

struct policy {
    const char *name, *what;
    uint64_t (*take)(policy *, const block *);
    void (*give)(policy *, const block *, uint64_t at);
    uint32_t (*group)(const block *);
    uint64_t unit; /* bytes that a pool takes from the frontier at once */
    uint64_t base, frontier;
    void *pools, *next;
};

extern policy policies[];
unsigned policies_make(void);
void policies_learned(uint64_t digest, uint32_t affinity, uint32_t heat);

#endif
