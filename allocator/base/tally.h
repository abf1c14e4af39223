/* What happened to each size class of a heap: counted in research builds alone. In any other build
 * HAK_TALLY is nothing, and the heap has no room for the figures; a test compares the instructions.
 *
 *   pop       malloc was served by the magazine
 *   push      free was
 *   fallback  malloc was not, and came to the slow path
 *   refill    blocks were taken from slabs for it
 *   retire    free was not, and came to the slow path
 *   remote    a block was handed back to another heap, which owns it */
#pragma once

#include "base/variant.h"

#include <stdint.h>

/* HAK_TALLIES(X): X(name) for each of them. */
#define HAK_TALLIES(X) X(pop) X(push) X(fallback) X(refill) X(retire) X(remote)

typedef struct hak_tally {
#define HAK_TALLY_FIELD(name) uint64_t name;
    HAK_TALLIES(HAK_TALLY_FIELD)
#undef HAK_TALLY_FIELD
} hak_tally;

/* HAK_TALLY(heap, cls, pop), HAK_TALLY_MANY(heap, cls, pop, 5): by the heap's owner. */
#if HAK_RESEARCH
#define HAK_TALLY_MANY(heap, cls, name, count) ((void)((heap)->tallies[cls].name += (count)))
#else
#define HAK_TALLY_MANY(heap, cls, name, count) ((void)(count))
#endif
#define HAK_TALLY(heap, cls, name) HAK_TALLY_MANY(heap, cls, name, 1)
