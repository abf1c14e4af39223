/* Pages: ranges, their segments, and the runs that are taken from these.
 *
 * A range, as it lies in the address space. It is a plan: each table, and the pages, are mapped
 * from the left as the range grows. Between them lies at least a page that nothing is mapped to,
 * so nothing that overflows runs from one into the next.
 *
 *   | class map | owners   | slab table | bitmaps | segment table | rooms        | pages ...    |
 *   | 1 B/page  | 8 B/page | 64 B/page  | 512 B/p | 64 B/segment  | 14 B/segment | 64 KiB each  |
 *                                                                                ^ base, 2 MiB
 *                                                                                  aligned
 *
 * The owner of a page is one word: the address of the seat of the heap that owns the page's slab,
 * plus the slab's class; 0 where there is no slab. It is what a thread reads of other threads'
 * slabs, and it stands apart from the slab table, whose lines their owners write all the time. */
#pragma once

#include "base/attributes.h"
#include "base/geometry.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct hak_slab hak_slab;
typedef struct hak_range hak_range;

/* Pages that hold so many bytes; 0 for none, and for more than all. */
HAK_INLINE size_t hak_pages_for(size_t bytes) {
    return (bytes + HAK_PAGE_SIZE - 1) >> HAK_PAGE_SHIFT;
}

/* Blocks begin at multiples of a grain, 16 bytes. The number of an address that is none lies beyond
 * all others: its odd bits have become the highest ones. */
#define HAK_GRAIN_SHIFT __builtin_ctz(HAK_MIN_ALIGN)
HAK_INLINE uintptr_t hak_grain(const void *p) {
    return (uintptr_t)p >> HAK_GRAIN_SHIFT | (uintptr_t)p << (64 - HAK_GRAIN_SHIFT);
}
HAK_INLINE uintptr_t hak_grain_around(const void *p) {
    return (uintptr_t)p >> HAK_GRAIN_SHIFT;
}
HAK_INLINE bool hak_is_at_grain(const void *p) {
    return hak_grain(p) == hak_grain_around(p);
}

enum hak_run_kind {
    HAK_RUN_FREE,
    HAK_RUN_SLAB,
    HAK_RUN_LARGE,
    HAK_RUN_CACHED, /* free, in the cache of a heap: pages/run_cache.h; ... */
    HAK_RUN_AHEAD,  /* ... and nobody has used it since it came there */
    HAK_RUN_SAMPLED /* a large block that a heap profile knows: sampling/sites.h */
};

HAK_INLINE bool hak_kind_is_cached(unsigned kind) {
    return kind == HAK_RUN_CACHED || kind == HAK_RUN_AHEAD;
}

HAK_INLINE bool hak_kind_is_large(unsigned kind) {
    return kind == HAK_RUN_LARGE || kind == HAK_RUN_SAMPLED;
}

/* Pages of the free runs that a heap keeps. */
enum { HAK_CACHED_PAGES = (4 << 20) >> HAK_PAGE_SHIFT };

/* Blocks from 1 GiB on lie apart: pages/apart.h. */
enum { HAK_APART_BITS = 30 };

/* A large block that grows will grow again: it gets 1/4 more address space, not memory. */
enum { HAK_SLACK_SHARE = 4 };

/* Whether blocks came and went lately, and so whether free memory inside a slab should go back to
 * the system: every put and take makes it LIVELY, each purge epoch lowers it by one. */
enum hak_pulse { HAK_PULSE_PURGED, HAK_PULSE_QUIET, HAK_PULSE_LIVELY };

/* One per page, 64 bytes; the one of a run's first page (its head) describes the run.
 *
 *   blocks:  | out | free | out | free | free | never handed out ...        |
 *   bitmap:     0      1     0      1      1     0 ...
 *                                             ^ carved                      ^ capacity
 * Invariants of a slab, seen by its owner:
 *   carved = used + number of ones in the bitmap,   carved <= capacity, used <= capacity
 *   bit w of summary = (word w of the bitmap is not zero)
 *   on the owner's partial list of its class if and only if used < capacity
 *   low_mark < used, or used = 0: the put that lowers used to it or below looks after the slab */
struct hak_slab {
    uintptr_t start; /* address of the run's first byte */
    union {
        hak_slab *next;  /* slab: the owner's partial list of this class */
        uint64_t faults; /* huge: pages/excess.h */
    };
    union {
        hak_slab *prev; /* on that list; of its first slab: the last one */
        struct {
            uint32_t touched; /* any run: pages that had memory when they were taken; ... */
            uint32_t before;  /* ... pages of the free run that lay here before, or 0 */
        };
    };
    uint64_t *bitmap; /* HAK_BITMAP_WORDS words; a one is a free block */
    union {
        uint64_t summary;  /* slab */
        size_t large_size; /* large: bytes that were asked for */
    };
    uint32_t pages;    /* length of the run; large: may be many thousands */
    uint16_t tail;     /* pages between this one and the head of its slab; 0 elsewhere */
    uint16_t used;     /* blocks out: in the program, in a magazine or in a chain */
    uint16_t carved;   /* blocks ever handed out; those beyond were never touched */
    uint16_t low_mark; /* when `used` sinks to it, the owner has something to do: slab/slab.c */
    uint8_t cls;       /* of a slab; HAK_CLASS_NONE elsewhere */
    uint8_t kind;      /* enum hak_run_kind */
    uint8_t pulse;     /* enum hak_pulse */
    bool dirty_tail;   /* beyond `carved` lies what an earlier run left */
    bool guarded;      /* slab: nobody may touch its last page (slab/guard_page.h) */
} HAK_LINE_ALIGNED;
_Static_assert(sizeof(struct hak_slab) == 64, "a slab entry is one cache line");

/* How many pages are free at the beginning, at the end and in the longest run of a segment, or of
 * many: pages/room.h. */
typedef struct hak_room {
    uint32_t first, longest, last;
} hak_room;
enum { HAK_ROOM_LEVELS = 11 }; /* enough for 2^30 segments */

/* One per segment. Bit i stands for page i.
 *   used      taken by a run
 *   touched   backed by memory of unknown contents; dirty = touched & ~used & ~kept
 *   aged      was dirty already when the last purge epoch began
 *   kept      free and touched, but nothing is to be done about it: hak_pages_keep
 *   leaving   used, but nobody has it: the system is taking its memory away */
typedef struct hak_segment {
    uint32_t used, touched, aged, kept, leaving;
    bool on_dirty_list;
    _Atomic bool huge;      /* the system may back it with huge pages: pages/dense.h */
    _Atomic bool has_slabs; /* had one since its tables were purged last */
    hak_range *range;
    struct hak_segment *dirty_next; /* segments with dirty pages */
} HAK_LINE_ALIGNED hak_segment;

/* The numbers of the segments that pages first .. first + count lie in; there is at least one. */
#define HAK_EACH_SEGMENT(i, first, count)                                                          \
    for (size_t i = (first) / HAK_PAGES_PER_SEGMENT, last_page = (first) + (count) - 1;            \
         i <= last_page / HAK_PAGES_PER_SEGMENT; i++)

/* The tables of a range; HAK_TABLE_ABOVE has the upper levels of the rooms, the guard alone has
 * records, hardened builds alone have marks: one table for each shift (pages/mark.h). */
enum { HAK_MARK_TABLES = 7 };
#define HAK_MARK_SHIFT(table) (HAK_GRAIN_SHIFT + (table)) /* of 16, 32, 64 ... 1024 bytes */
enum hak_table {
    HAK_TABLE_CLASSES,
    HAK_TABLE_OWNERS,
    HAK_TABLE_SLABS,
    HAK_TABLE_BITMAPS,
    HAK_TABLE_SEGMENTS,
    HAK_TABLE_ROOMS,
    HAK_TABLE_ABOVE,
    HAK_TABLE_RECORDS,
    HAK_TABLE_MARKS,
    HAK_TABLES = HAK_TABLE_MARKS + HAK_MARK_TABLES * HAK_HARDENED
};

/* Where a range begins, and how many grains free may look up there: pages/range.h. */
typedef struct hak_pass {
    uintptr_t first;
    size_t grains;  /* 0: each free comes to its slow path, ... */
    bool is_closed; /* ... also when the tables have grown */
} hak_pass;

/* Address space for pages, and the tables that describe them. Once the range is published `limit`
 * and what is behind it only grow; the rest is constant but for the tables' contents. */
struct hak_range {
    size_t segments_most;  /* how far the range can grow */
    size_t segments_fresh; /* handed out once, up to here */
    size_t stale[2];       /* 1 + the node of level 0, 1 to compute anew; 0: none. pages/room.c */
    size_t sought, found;  /* no run of so many pages begins below that segment; 0 pages: unknown */
    uintptr_t mapped;      /* the pages are, up to here */
    bool is_reserved;      /* hak_os_reserve, not hak_os_plan */
    struct {
        uintptr_t start, mapped; /* from where on, and up to where it is mapped */
    } tables[HAK_TABLES];
    hak_room *rooms[HAK_ROOM_LEVELS]; /* pages/room.h */
    char *records[HAK_GUARD];         /* guard builds: guard/record.h */

    /* What each free reads: one line, and not the first one of a page (pages/range.h). */
    _Alignas(64) uintptr_t base; /* first page */
    size_t limit;                /* pages below it have tables, and may be looked up there */
    uint8_t *classes;
    hak_pass pass[HAK_HARDENED]; /* base and limit, as free reads them there */
    hak_slab *slabs;
    _Atomic(uintptr_t) *owners;
    uint64_t (*bitmaps)[HAK_BITMAP_WORDS];
    hak_segment *segments;
};
