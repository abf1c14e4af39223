/* What the allocator holds, counted by a walk over all tables and heaps.
 *
 * Nothing is counted for it on the way of malloc and free, but what a thread sends home to another
 * one. The walk takes no lock that they wait for and stops nobody: while other threads go on, each
 * figure is from a moment of its own, and sums of them may be off by what moved meanwhile.
 *
 *   blocks of a class:  | live | in magazines | on their way home | free |
 *                        <------------------ out ---------------->
 *                        <------------------- carved -------------------->
 */
#pragma once

#include "base/types.h"

/* What its slabs and their blocks are about. A slab is hot while more than half of its blocks are
 * out, draining when some are, and free when none is: hak_slab_sink looks after it at these. */
typedef struct hak_class_figures {
    size_t hot, draining, empty; /* slabs */
    size_t carved;               /* blocks handed out at least once by these slabs */
    size_t out;                  /* of them, not in a slab */
    size_t magazines, remote;
    size_t guarded; /* guard builds: kept back */
} hak_class_figures;

/* Heaps by state: base/types.h. */
enum { HAK_HEAP_STATES = HAK_HEAP_FROZEN + 1 };

typedef struct hak_snapshot {
    hak_class_figures classes[HAK_CLASSES]; /* HAK_CLASS_NONE: nothing */
    size_t reserved, segments, huge_segments;
    size_t dirty_pages, kept_pages;
    size_t large_blocks, large_bytes, large_usable, large_pages, huge_blocks, huge_bytes;
    size_t large_guarded, large_guarded_bytes; /* among them, in guard builds */
    size_t apart_blocks, apart_bytes;
    size_t trap_blocks, trap_bytes; /* of the sampled guard */
    size_t cached_runs, cached_pages, spare_pages;
    size_t heaps[HAK_HEAP_STATES];
} hak_snapshot;

/* Any thread; some 10 KiB of its stack. */
void hak_snapshot_take(hak_snapshot *snapshot);

/* What nobody knows: null in JSON, and not there in the other texts. */
#define HAK_UNKNOWN ((size_t)-1)

/* Bytes of all ranges that are resident, asked of the system segment by segment; HAK_UNKNOWN where
 * that must not be asked. Dear: about a microsecond for each segment. */
size_t hak_snapshot_resident(void);

/* ---- what follows from it ---- */

size_t hak_live_blocks(const hak_class_figures *c);
HAK_INLINE size_t hak_slabs_of(const hak_class_figures *c) {
    return c->hot + c->draining + c->empty;
}
/* Free in slabs: handed out before, or never. */
size_t hak_returned_blocks(const hak_class_figures *c);
size_t hak_fresh_blocks(const hak_snapshot *s, unsigned cls);
/* Bytes that all live blocks of the class have more than was asked for, if the sizes asked for are
 * spread evenly between this class and the one below: nobody notes them. */
size_t hak_rounding_guess(const hak_snapshot *s, unsigned cls);

/* ---- heap by heap ---- */

typedef struct hak_cache_figures {
    size_t thread; /* its number; 0: nobody knows */
    enum hak_heap_state state;
    size_t blocks, bytes; /* in its magazines */
    size_t runs;          /* in its run cache */
    bool has_mail;        /* blocks came home that it has not looked at */
} hak_cache_figures;

/* Of a heap that has memory (heap/seat.h), whoever uses it meanwhile. */
hak_cache_figures hak_cache_figures_of(const hak_seat *seat);
