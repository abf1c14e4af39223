/* The small blocks of a trace: which of them an address lies in. */
#ifndef PLACEMENT_BLOCKS_H
#define PLACEMENT_BLOCKS_H

#include <stdint.h>

enum { SMALL = 4096, POLICIES = 16 };

typedef struct block {
    uint64_t from; /* where the traced allocator put it */
    uint32_t size;
    uint32_t site, context; /* numbers of its caller, and of its four callers */
    uint64_t at[POLICIES];  /* where each policy puts it */
} block;

block *block_of(uint64_t address);
block *block_add(uint64_t address, uint64_t size);
void block_remove(block *it);

/* A number for each caller, in order of appearance from 1 on; the same table serves both kinds. */
uint32_t site_number(uint64_t digest);
uint64_t site_digest(uint32_t number);
uint32_t site_count(void);

#endif
