/* The shared types, with pictures and invariants.
 *
 * Glossary
 *   heap      what one thread owns: magazines and slabs. Recycled when its thread ends.
 *   seat      what the other threads know of a heap. Never freed.
 *   magazine  a thread's small stack of free blocks of one class; malloc pops, free pushes.
 *   slab      a run of pages cut into blocks of one class, with a bitmap of its free blocks.
 *   run       consecutive pages taken from a segment: a slab or a large block.
 *   remote    freed by a thread that does not own the slab; handed back in chains.
 *   dirty     free pages whose memory the system still backs; purge gives it back.
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
 * slabs, and it stands apart from the slab table, whose lines their owners write all the time.
 *
 * Nothing lies inside free blocks but, for the moment of the handing over, the addresses in a
 * carrier of a remote chain: a free block can be unmapped, and a write to it after free corrupts no
 * list of ours. */
#ifndef HAK_BASE_TYPES_H
#define HAK_BASE_TYPES_H

#include "base/attributes.h"
#include "base/geometry.h"
#include "base/tally.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hak_heap hak_heap;
typedef struct hak_seat hak_seat;
typedef struct hak_slab hak_slab;
typedef struct hak_range hak_range;

/* An address in a carrier of a remote chain (bin/drain.h), written into a freed block itself. */
typedef struct hak_link {
    struct hak_link *next;
} hak_link;

enum hak_run_kind {
    HAK_RUN_FREE,
    HAK_RUN_SLAB,
    HAK_RUN_SLAB_TAIL,
    HAK_RUN_LARGE,
    HAK_RUN_CACHED, /* free, in the cache of a heap: pages/run_cache.h */
    HAK_RUN_SAMPLED /* a large block that a heap profile knows: sampling/sites.h */
};

/* Free runs that a heap keeps, and their pages. */
enum { HAK_CACHED_RUNS = 8, HAK_CACHED_PAGES = (4 << 20) >> HAK_PAGE_SHIFT };

/* Whether blocks came and went lately, and so whether free memory inside a slab should go back to
 * the system: every put and take makes it LIVELY, each purge epoch lowers it by one. */
enum { HAK_DIRTY_TAIL = 2 };
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
    uint32_t pages;     /* length of the run; large: may be many thousands */
    uint16_t tail;      /* pages between this one and the head of its slab; 0 elsewhere */
    uint16_t used;      /* blocks out: in the program, in a magazine or in a remote chain */
    uint16_t carved;    /* blocks ever handed out; those beyond were never touched */
    uint16_t low_mark;  /* when `used` sinks to it, the owner has something to do: slab/slab.c */
    uint8_t cls;        /* of a slab; HAK_CLASS_NONE elsewhere */
    uint8_t kind;       /* enum hak_run_kind */
    uint8_t pulse;      /* enum hak_pulse */
    uint8_t dirty_tail; /* epochs until what an earlier run left beyond `carved` is purged, or 0 */
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
 *   kept      free and touched, but nothing is to be done about it: hak_pages_keep */
typedef struct hak_segment {
    uint32_t used, touched, aged, kept;
    bool on_dirty_list;
    _Atomic bool huge;      /* the system may back it with huge pages: pages/dense.h */
    _Atomic bool has_slabs; /* had one since its tables were purged last */
    hak_range *range;
    struct hak_segment *dirty_next; /* segments with dirty pages */
} HAK_LINE_ALIGNED hak_segment;

/* The tables of a range; HAK_TABLE_ABOVE has the upper levels of the rooms, the guard alone has
 * records, hardened builds alone have marks: one table for each shift (pages/mark.h). */
enum { HAK_MARK_TABLES = 4 };
#define HAK_MARK_SHIFT(table) (4 + 2 * (table)) /* of 16, 64, 256, 1024 bytes */
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

/* Address space for pages, and the tables that describe them. Once the range is published `limit`
 * and what is behind it only grow; the rest is constant but for the tables' contents. */
struct hak_range {
    uintptr_t base;         /* first page */
    size_t segments_most;   /* how far the range can grow */
    size_t segments_ready;  /* tables exist up to here; limit = 32 * this */
    size_t segments_usable; /* mapped up to here */
    size_t segments_fresh;  /* handed out once, up to here */
    size_t limit;           /* pages below it may be looked up in the tables */
    bool is_reserved;       /* hak_os_reserve, not hak_os_plan */
    struct {
        uintptr_t start, mapped; /* from where on, and up to where it is mapped */
    } tables[HAK_TABLES];
    uint8_t *classes;
    _Atomic(uintptr_t) *owners;
    hak_slab *slabs;
    uint64_t (*bitmaps)[HAK_BITMAP_WORDS];
    hak_segment *segments;
    hak_room *rooms[HAK_ROOM_LEVELS]; /* pages/room.h */
    char *records[HAK_GUARD];         /* guard builds: guard/record.h */
};

/* How a thread uses a class: the picture and the table are in magazine/mode.h and mode.c. */
enum hak_mode { HAK_CALM, HAK_SPILLED, HAK_SERVED, HAK_SHEDDING, HAK_MODES };

/* Whether a heap's deep magazines are usable: pages/heap_room.h. */
enum hak_deep { HAK_DEEP_UNKNOWN, HAK_DEEP_GRANTED, HAK_DEEP_REFUSED };

/* What a thread has of a class, behind its magazine:
 *
 *   malloc <- magazine <- refill <- | remote frees | transfer cache | partial slabs | new slab |
 *   free   -> magazine -> retire -> | the thread's slabs | chains to others | transfer cache |
 *
 *   depth     small        follows what is in use     usual              up to the deepest
 *             +----------> +------------------------> +----------------> +  (spilled, then wanted)
 *             new thread   blocks of its own          a slab is filled   |
 *                                                     +<-----------------+  each purge epoch
 *   mode      calm, spilled, served or shedding: what came of the last refill (magazine/mode.h)
 *   armed     the next operation comes to the slow path, to look at the clock (magazine/arm.h) */
typedef struct hak_bin {
    void **bottom;        /* the NULL below the magazine's first slot */
    void **held_top;      /* the real top of an armed magazine */
    hak_slab *partial;    /* slabs with room, the one to allocate from first */
    uint16_t depth;       /* slots of the magazine, now ... */
    uint16_t room;        /* ... and where it lies now, at most */
    uint16_t batch;       /* blocks that the next refill asks for */
    uint16_t shed_left;   /* blocks from the last partial slab, unless others are given back */
    uint16_t hit_at;      /* the tick in which the armed magazine was last hit, ... */
    uint8_t hits;         /* how often within it, ... */
    uint8_t malloc_hits;  /* ... and how often malloc alone was armed again in it */
    uint8_t mode;         /* enum hak_mode */
    bool in_runs;         /* what it gave back last lay slab after slab */
    bool malloc_is_armed; /* malloc alone comes to the slow path, once */
} hak_bin;

/* What a thread owns, in memory apart from all blocks (pages/heap_room.h). The hot part comes
 * first: malloc and free read nothing else of it.
 *
 *   a magazine:         | NULL | block | block | block |       |  ...  |       |
 *                         ^ bottom[class]        ^ top[class]          ^ end[class]
 *
 *   with a block in hand:
 *                | NULL | NULL | block | block |       |       |  ...  |       |
 *                         ^ bottom             ^ top: the slot of hand[class], written when
 *                                                another block comes upon it
 *
 * Empty: top points at the NULL below the first slot, so that a pop reads NULL (a block in hand
 * needs two of them: what comes after the last block is read, too). Full: top = end. HAK_CLASS_NONE
 * has a magazine that is both, and so leads every odd case to the slow path. */
struct hak_heap {
    void **top[HAK_CLASSES]; /* at the start: the load of it is a byte shorter */
    void **end[HAK_CLASSES];
    void *hand[HAK_HAND ? HAK_CLASSES : 1];
    uintptr_t marks[HAK_CLASSES * HAK_HARDENED]; /* pages/mark.h */
    uint64_t order[HAK_HARDENED];                /* random numbers: slab/slab.c */
    uint8_t class_of_small[HAK_SMALL_STEPS];
    uint8_t class_of_medium[HAK_MEDIUM_STEPS];

    hak_bin bins[HAK_CLASSES];
    uint32_t grown_slots;        /* in use: magazine/magazine.h */
    bool crowded;                /* deeper does not help runs: until the next purge epoch */
    uint64_t armed_at_ms;        /* when all of them were armed, */
    _Atomic uint64_t seen_at_ms; /* and when the slow paths were last visited */
    uint32_t armed_hits;         /* counts operations on armed magazines */
    _Atomic uint32_t epoch_seen; /* the purge epoch for which the heap was trimmed last, ... */
    uint8_t trim_class;          /* ... or is being trimmed: this class comes next, or 0, */
    bool trim_more;              /* something that was seen may go later, */
    hak_slab *trim_next;         /* and this is the class's next slab: reclaim/trim.c */
    hak_link *came;              /* chains that were fetched from `remote` */
    uint8_t deep;                /* enum hak_deep */
    uint8_t home;                /* of its large blocks; 0: none yet */
    hak_slab *cached[HAK_CACHED_RUNS]; /* pages/run_cache.h: the newest last; */
    uint32_t cached_count;             /* how many they are, ... */
    uint32_t cached_most;              /* ... how many pages they may have together, ... */
    uint32_t cached_room;              /* ... and how many more than they do */
    uint8_t looks_left, look_every;    /* at the clock: large/large.c */
    const hak_range *large_range;      /* NULL, or that of its home: large/take.c */
    _Atomic bool busy;                 /* its owner is on a slow path */
    _Atomic uint8_t claim;             /* enum hak_claim; both: heap/owner.h */
    bool robbed;                       /* a reclaimer has it for itself: reclaim/reclaim.h */
    bool counted;                      /* each malloc comes by: sampling/sampling.h; ... */
    bool samples;                      /* ... for a heap profile, with large blocks */
    unsigned counts_as;                /* what was in force when it last looked */
    int64_t sample_left;               /* bytes until the next sample, ... */
    int64_t trap_left;                 /* ... blocks until the next one in the pool of traps, ... */
    uint64_t sample_seed;              /* ... and how far it will be to those after them */
    hak_tally tallies[HAK_CLASSES * HAK_RESEARCH]; /* research builds */
    hak_seat *seat;
    HAK_LINE_ALIGNED void *slots[]; /* magazine/magazine.h; HAK_HEAP_SLOTS of them */
};

/* Whose a heap is.
 *   ACTIVE   a thread's
 *   IDLE     nobody's: whoever needs a heap takes it, whoever needs a slab one of its slabs
 *   VISITED  idle, but somebody is looking after it just now
 *   BARE     nobody's, and its memory is given back: it had nothing to keep
 *   FROZEN   of a thread that a forked child does not have: it may have been copied in the middle
 * of an operation, and is never touched again; but its slabs are taken over one by one */
enum hak_heap_state {
    HAK_HEAP_ACTIVE,
    HAK_HEAP_IDLE,
    HAK_HEAP_VISITED,
    HAK_HEAP_BARE,
    HAK_HEAP_FROZEN
};

/* What other threads know of a heap, apart from it (pages/heap_room.h): they look for it there and
 * leave blocks for it at any time, even when the heap has no memory. The low bits of its address
 * are zero: they name a class in the owner words. */
struct hak_seat {
    _Atomic(hak_link *) remote;         /* chains that other threads freed */
    HAK_LINE_ALIGNED hak_heap *heap;    /* constant */
    hak_seat *registry_next;            /* constant: all seats, never removed */
    hak_seat *idle_next, *idle_prev;    /* those in the state IDLE, or those in the state BARE */
    _Atomic(enum hak_heap_state) state; /* changed under the registry lock */
    _Atomic bool settled;               /* idle, and the last trim left nothing to do */
    _Atomic bool usable;                /* the heap has memory: pages/heap_room.h; ... */
    bool deep_usable;                   /* ... and has it for its deep magazines */
    _Atomic int32_t process, thread;    /* of the owner; 0: nobody knows */
} __attribute__((aligned(HAK_CLASS_LIMIT)));
_Static_assert(sizeof(struct hak_seat) == HAK_CLASS_LIMIT, "a class fits into a seat's address");
#define HAK_USUAL_SLOTS (HAK_CLASSES * (HAK_SMALL_DEPTH + HAK_EMPTY_SLOTS) + HAK_GROWN_SLOTS)
#define HAK_HEAP_SLOTS (HAK_USUAL_SLOTS + HAK_MAGAZINE_SLOTS)
#define HAK_USUAL_HEAP_SIZE (sizeof(struct hak_heap) + HAK_USUAL_SLOTS * sizeof(void *))
#define HAK_HEAP_SIZE (sizeof(struct hak_heap) + HAK_HEAP_SLOTS * sizeof(void *))
_Static_assert(HAK_HEAP_SIZE <= HAK_SEGMENT_SIZE,
               "a heap and its magazines must fit into one segment: lower the classes' depths");

#endif
