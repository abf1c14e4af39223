/* The guard's record of each block: eight bytes, far away from all blocks, found by arithmetic.
 *
 *   records of range r:   | page 0: 4096 records, 4096 origins | page 1: 4096 records, ...
 *
 * The records of a slab are those of its first page, one for each block; a large block has the
 * first of its first page. They are the last of the range's tables, and backed by memory only
 * where they are used. */
#pragma once

#include "base/types.h"
#include "guard/guard.h"

/* A block that was never handed out, is in use, lies in quarantine, went back to the core. */
enum hak_life { HAK_UNUSED, HAK_IN_USE, HAK_KEPT_BACK, HAK_GONE };

/* What a record says. In memory it is one word, so that of two threads that free the same block
 * one is the second. */
typedef struct hak_facts {
    uint64_t life : 2;      /* enum hak_life */
    uint64_t family : 2;    /* enum hak_family */
    uint64_t alignment : 6; /* logarithm to base 2 */
    uint64_t turn : 6;      /* counts how often the block was handed out */
    uint64_t size : 48;     /* asked for */
} hak_facts;

typedef _Atomic(hak_facts) hak_record;

/* Where a pointer points. record is NULL when no block can begin there.
 *
 *   start            what the program has
 *   | front: canary | n bytes ... | canary ... |
 */
typedef struct hak_place {
    hak_slab *run; /* NULL: the pointer is foreign */
    hak_record *record;
    char *start; /* the core's block; only with a record */
} hak_place;

/* The first finds a block by the program's pointer, the second by its start in the core. */
hak_place hak_place_of(const void *block);
hak_place hak_place_at(const void *start);

/* Bytes between the start of a block and the program's pointer: a multiple of the alignment, and
 * none if that is more than a page. A large block of no bytes has a whole page in front, so that
 * the pointer stands at the page that faults. */
size_t hak_unusual_front(const hak_slab *run, hak_facts facts);
HAK_INLINE size_t hak_front_of(const hak_slab *run, hak_facts facts) {
    bool is_usual = (size_t)1 << facts.alignment <= HAK_MIN_ALIGN && facts.size != 0;
    return HAK_LIKELY(is_usual) ? HAK_MIN_ALIGN : hak_unusual_front(run, facts);
}

/* Who asked for the block of a record, by a number of leaks/origins.h; 0 where that is not kept. */
_Atomic(uint32_t) *hak_origin_at(hak_place place);

/* The length of a block in the core, and the part of it that may hold data and canaries. In a slab
 * that is all of it. In a large block the last system page faults at each access. */
size_t hak_place_size(const hak_slab *run);
size_t hak_place_room(const hak_slab *run);
