/* What a thread owns, and what the others know of it; page_types.h has the pages that it lies in.
 * The words are explained in docs/glossary.md.
 *
 * Nothing lies inside free blocks, so one can be unmapped, and a write to it after free corrupts no
 * list of ours. The one exception is the carrier of a remote chain. It holds addresses while it is
 * on its way. */
#pragma once

#include "base/attributes.h"
#include "base/geometry.h"
#include "base/page_types.h"
#include "base/tally.h"

typedef struct hak_heap hak_heap;
typedef struct hak_seat hak_seat;

/* An address in a carrier of a remote chain (remote/link.h), written into a freed block itself. */
typedef struct hak_link {
    struct hak_link *next;
} hak_link;

/* How a thread uses a class: the picture and the table are in magazine/mode.h and mode.c. */
enum hak_mode { HAK_CALM, HAK_SPILLED, HAK_SERVED, HAK_SHEDDING, HAK_MODES };

/* What a thread has of a class, behind its magazine. How depth and mode change:
 * docs/block-paths.md. */
typedef struct hak_bin {
    void **bottom;            /* the NULL below the magazine's first slot */
    void **held_top;          /* the real top of an armed magazine */
    hak_slab *partial;        /* slabs with room, the one to allocate from first */
    uint16_t depth;           /* slots of the magazine, now ... */
    uint16_t room;            /* ... and where it lies now, at most */
    uint16_t batch;           /* blocks that the next refill asks for */
    uint16_t stood_at;        /* blocks of the magazine at the last look: reclaim/stale.h */
    uint16_t gave_back;       /* blocks, since it ran empty last; magazine/mode.c */
    uint16_t hit_at;          /* the tick in which the armed magazine was last hit, ... */
    uint8_t hits;             /* how often within it, ... */
    uint8_t malloc_hits;      /* ... and how often malloc alone was armed again in it */
    uint8_t mode;             /* enum hak_mode */
    bool in_runs : 1;         /* what it gave back last lay slab after slab */
    bool malloc_is_armed : 1; /* malloc alone comes to the slow path, once */
} hak_bin;
_Static_assert(sizeof(struct hak_bin) == 40, "a heap begins with few pages");

/* When its magazines were armed: magazine/arm.h. */
typedef struct hak_arming {
    uint64_t at_ms;              /* all of them, last, ... */
    _Atomic uint64_t seen_at_ms; /* ... and when the slow paths were last visited */
    uint32_t hits;               /* counts operations on armed magazines */
} hak_arming;

/* How far its trim has come: reclaim/trim.c. */
typedef struct hak_trim {
    _Atomic uint32_t epoch; /* the purge epoch of the trim that runs, or ran last */
    uint8_t cls;            /* the class that it has come to; 0: none runs */
    bool more;              /* it left something that may go in a later epoch */
    hak_slab *next;         /* the slab of that class to look at next */
} hak_trim;

/* The runs that it freed last: pages/run_cache.h. */
typedef struct hak_run_cache {
    uint32_t count;                       /* how many there are, ... */
    uint32_t most;                        /* ... how many pages they may have together, ... */
    uint32_t room;                        /* ... and how many of these are left */
    uint32_t missed;                      /* the length that was last asked for in vain */
    hak_slab *runs[1 + HAK_CACHED_PAGES]; /* from the second on, the newest last */
} hak_run_cache;

/* Which of its mallocs are picked: sampling/sampling.h. */
typedef struct hak_sampled {
    bool counted;        /* each malloc is counted, or, when hardened, gets a canary */
    bool samples;        /* it is counted for a heap profile, with large blocks */
    unsigned in_force;   /* when it last looked */
    int64_t sample_left; /* bytes until the next sample, ... */
    int64_t trap_left;   /* ... blocks until the next one in the pool of traps, ... */
    uint64_t seed;       /* ... and how far it will be to those after them */
} hak_sampled;

/* What a thread owns, in memory apart from all blocks (pages/heap_room.h). The hot part comes
 * first: malloc and free read nothing else of it.
 *
 *   a magazine:         | NULL | block | block | block |       |  ...  |       |
 *                         ^ bottom[class]        ^ top[class]          ^ end[class]
 *
 *   with a block in hand, hand[class] is | newest block | count |, of 48 and 16 bits:
 *
 *                | NULL | NULL | block | block |       |       |  ...  |       |
 *                         ^ top[class]         ^ top[class] + count: the slot of the newest,
 *                                                written when another block comes upon it
 *
 * Empty: top points at the NULL below the first slot, so that a pop reads NULL (a block in hand
 * needs two of them: what comes after the last block is read, too). Full: top = end. HAK_CLASS_NONE
 * has a magazine that is both, and so leads every odd case to the slow path. */
struct hak_heap {
    void **top[HAK_CLASSES]; /* at the start: the load of it is a byte shorter */
    void **end[HAK_CLASSES];
    uint64_t hand[HAK_HAND ? HAK_CLASSES : 1];
    uintptr_t marks[HAK_CLASSES * HAK_HARDENED]; /* pages/mark.h */
    uint64_t order[HAK_HARDENED];                /* random numbers: slab/slab.c */
    uint8_t class_of_small[HAK_SMALL_STEPS];
    uint8_t class_of_medium[HAK_MEDIUM_STEPS];

    /* Large blocks and slow paths. */
    _Atomic bool busy;              /* its owner is on a slow path */
    _Atomic uint8_t claim;          /* enum hak_claim; both: heap/owner.h */
    bool robbed;                    /* a reclaimer has it for itself: reclaim/reclaim.h */
    uint8_t home;                   /* of its large blocks; 0: none yet */
    uint8_t looks_left, look_every; /* at the clock: large/large.c */
    bool grew;                      /* a slab of it took new memory: reclaim/purge.c */
    const hak_range *large_range;   /* of its last large run, mostly its home */
    hak_run_cache cache;

    hak_bin bins[HAK_CLASSES];
    uint32_t grown_slots;  /* in use: magazine/magazine.h */
    bool took;             /* a slab of it took pages that lay in no cache of it, ... */
    uint64_t looked_at_ms; /* ... and when it last looked for stale magazines: reclaim/stale.h */
    bool crowded;          /* deeper does not help runs: until the next purge epoch */
    hak_arming arming;
    hak_trim trim;
    hak_sampled sampled;
    hak_tally tallies[HAK_CLASSES * HAK_RESEARCH]; /* research builds */
    hak_seat *seat;
    HAK_LINE_ALIGNED void *slots[]; /* magazine/magazine.h; HAK_HEAP_SLOTS of them */
};

/* A block in hand and how many blocks its magazine has, in one word: one load finds the block, and
 * one store changes both. No address of a program has more than 48 bits, unless it asks for one
 * that has: on x86-64 they have 47, on aarch64 48. */
enum { HAK_HAND_SHIFT = 16 };
HAK_INLINE uint64_t hak_hand_of(const void *block, size_t count) {
    return (uint64_t)(uintptr_t)block << HAK_HAND_SHIFT | count;
}
HAK_INLINE void *hak_hand_block(uint64_t hand) {
    return (void *)(uintptr_t)(hand >> HAK_HAND_SHIFT);
}
HAK_INLINE size_t hak_hand_count(uint64_t hand) {
    return (uint16_t)hand;
}

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
    _Atomic(hak_link *) remote;         /* chains that other threads freed, ... */
    _Atomic(hak_link *) came;           /* ... and those that the owner has fetched from there */
    HAK_LINE_ALIGNED hak_heap *heap;    /* constant */
    hak_seat *registry_next;            /* constant: all seats, never removed */
    hak_seat *idle_next, *idle_prev;    /* those in the state IDLE, or those in the state BARE */
    _Atomic(enum hak_heap_state) state; /* who changes it: heap/seat.h */
    _Atomic bool settled;               /* idle, and the last trim left nothing to do */
    _Atomic bool usable;                /* the heap has memory: pages/heap_room.h; ... */
    bool deep_usable;                   /* ... and has it for its deep magazines */
    _Atomic int32_t process, thread;    /* of the owner; 0: nobody knows */
} __attribute__((aligned(HAK_CLASS_LIMIT)));
_Static_assert(sizeof(struct hak_seat) == HAK_CLASS_LIMIT, "a class fits into a seat's address");
#define HAK_USUAL_SLOTS (HAK_SMALL_SLOTS + HAK_GROWN_SLOTS)
#define HAK_HEAP_SLOTS (HAK_USUAL_SLOTS + HAK_MAGAZINE_SLOTS)
#define HAK_USUAL_HEAP_SIZE (sizeof(struct hak_heap) + HAK_USUAL_SLOTS * sizeof(void *))
#define HAK_HEAP_SIZE (sizeof(struct hak_heap) + HAK_HEAP_SLOTS * sizeof(void *))
_Static_assert(HAK_HEAP_SIZE <= HAK_SEGMENT_SIZE,
               "a heap and its magazines must fit into one segment: lower the classes' depths");
