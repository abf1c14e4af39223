/* The recorder: what the wrappers in malloc.c need, and the two halves behind them.
 *
 *   malloc.c    libc's names: calls the next allocator, then tells the recorder
 *   next.c      finds the next allocator; serves the calls that finding it makes
 *   recorder.h  the usual way: a record into the thread's open block
 *   threads.c   the other ways: a new block, the end of a thread, fork, exit
 *   chunks.c    the file: its header, its chunks, mapped one by one
 *   options.c   the environment
 *
 * Nothing here calls malloc. System calls are made by number: the wrappers of libc are points of
 * cancellation, which malloc is not.
 *
 * State that a fork must not inherit lies in memory that the kernel clears in the child
 * (MADV_WIPEONFORK): the child finds no room in its block, and begins a file of its own. */
#ifndef RECORDER_H
#define RECORDER_H

#include "encode.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/single_threaded.h>

#pragma GCC visibility push(hidden)

#define RECORDER_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RECORDER_TLS _Thread_local __attribute__((tls_model("initial-exec")))

enum {
    RECORDER_CHUNK = 64 << 10, /* what a thread maps at a time */
    RECORDER_RING_MAX = 1 << 16,
    RECORDER_POOL = 256,
    RECORDER_STATES = 1 << 14, /* threads that record at the same time */
    RECORDER_APART = 128,      /* bytes: processors fetch two lines of the cache at once */
    RECORDER_PATH = 1024,
    RECORDER_LAST_BITS = 16,
    RECORDER_ADDRESS_BITS = 49, /* of an address divided by 8 */
};

typedef struct recorder_options {
    const char *pattern; /* of the file's name, with %p for the process; NULL: do not record */
    uint64_t sample;
    uint64_t ring_chunks; /* 0: no ring */
    bool sites;
} recorder_options;

typedef struct recorder_chunk {
    unsigned char *base; /* of the mapping; NULL: none */
    unsigned char *free; /* where the next block begins */
    uint64_t number;     /* position in the file */
} recorder_chunk;

/* Apart from each other: two threads that write into one line of the cache wait for each other. */
typedef struct recorder_thread {
    _Alignas(RECORDER_APART) trace_encoder to;
    unsigned char *usual; /* `to.at` below: nothing is to be asked before a record; else NULL */
    unsigned char *limit; /* `to.at` below: there is room for a record */
    trace_block *block;
    recorder_chunk chunk;
    uint64_t events; /* in the open block */
    uint64_t mark;   /* of the thread, in `last` */
    uint64_t left_out, spent_ns;
    uint32_t number;
    uint32_t skip; /* events until the next try after the disk was full */
} recorder_thread;

typedef struct recorder_process {
    _Atomic uint64_t stamp; /* the first of the next batch; threads fight for its line alone */
    _Alignas(RECORDER_APART) trace_section *section; /* NULL: the file is not open yet */
    uint64_t started_ns, event_cost_ps;
    _Atomic uint64_t chunks; /* handed out */
    atomic_flag lock;        /* of what follows */
    uint32_t threads, states, pooled;
    bool refused;                           /* the file cannot be made */
    recorder_chunk pool[RECORDER_POOL];     /* half-used, of threads that ended */
    recorder_thread *idle[RECORDER_STATES]; /* states of threads that ended */
    uint32_t idle_states;
    _Atomic unsigned char used[RECORDER_RING_MAX]; /* ring: chunks that a thread holds */
    char path[RECORDER_PATH];
    _Atomic uint64_t last[1 << RECORDER_LAST_BITS]; /* who touched an address last: recorder_mine */
    recorder_thread all[RECORDER_STATES];
} recorder_process;

typedef struct recorder_local {
    recorder_thread *thread;
    uint32_t number; /* of the thread, +1; 0: it has none yet */
    bool busy;       /* inside the recorder: what it causes is not recorded */
    bool ended;      /* its destructors are through; a late event seals its block at once */
} recorder_local;

extern recorder_process *recorder_now;
extern recorder_options recorder_wishes;
extern bool recorder_off; /* nothing is to be recorded */
extern RECORDER_TLS recorder_local recorder_self;

/* Reads the environment into recorder_wishes; false as long as there is none to read. */
bool recorder_read_options(void);

/* One line on stderr: `hakmem-trace: what: path`. */
void recorder_complain(const char *what, const char *path);

/* A state with room for a record, or NULL: this event is not recorded. Keeps errno. */
recorder_thread *recorder_more_room(void);
/* Seals the calling thread's block and gives back the rest of its chunk. */
void recorder_detach(void);
uint64_t recorder_clock_ns(void);
uint32_t recorder_site(const void *address);
/* What one event costs in picoseconds, by recording some that nobody keeps. */
uint64_t recorder_event_cost_ps(void);

bool recorder_open_file(recorder_process *process);
bool recorder_take_chunk(recorder_process *process, recorder_chunk *chunk);
/* Copies a full chunk to its place in the file and empties it; false: no room, all is as before. */
bool recorder_empty_chunk(recorder_process *process, recorder_chunk *chunk);
void recorder_drop_chunk(recorder_process *process, recorder_chunk *chunk);
void recorder_lock(recorder_process *process);
void recorder_unlock(recorder_process *process);

/* Addresses that are not sampled leave no trace at all; a function of the address alone, so that
 * malloc and free agree without a table. */
TRACE_INLINE bool recorder_samples(uint64_t address) {
    uint64_t sample = recorder_wishes.sample;
    return sample <= 1 || ((address >> 4) * 0x9E3779B97F4A7C15u >> 32) % sample == 0;
}

TRACE_INLINE _Atomic uint64_t *recorder_last(recorder_process *process, uint64_t address) {
    return &process->last[(address * 0x9E3779B97F4A7C15u) >> (64 - RECORDER_LAST_BITS)];
}

/* Whether no other thread has recorded this address since the calling one did: then the table has
 * the calling thread's mark for it still. Whoever touches it next finds another mark than its own
 * and leaves its own. The program orders what threads do with one block, so no atomic exchange is
 * needed; another address in the same place costs a batch, never the order. */
TRACE_INLINE bool recorder_mine(recorder_process *process, const recorder_thread *thread,
                                uint64_t address) {
    uint64_t last = atomic_load_explicit(recorder_last(process, address), memory_order_relaxed);
    return last == (thread->mark | address >> 3);
}

/* Leaves a mark; 0: none, where a stamp for this address was taken and is not used. */
TRACE_INLINE void recorder_touch(recorder_process *process, uint64_t mark, uint64_t address) {
    uint64_t last = mark ? mark | address >> 3 : 0;
    atomic_store_explicit(recorder_last(process, address), last, memory_order_relaxed);
}

/* Order across threads. A block's stamp is taken after it was allocated and before it is freed, so
 * the stamps of one address never contradict what happened. Stamps are taken from the counter of
 * the process in batches: threads that count together at every event wait for each other for most
 * of their time. A thread uses up its batch on addresses that it was the last to touch; an address
 * that may come from another thread takes the first stamp of a new batch, which is above all that
 * other threads have used for that address before. `before` is the thread's last stamp. */
TRACE_INLINE uint64_t recorder_stamp(recorder_process *process, const recorder_thread *thread,
                                     uint64_t before, uint64_t address) {
    bool mine = __libc_single_threaded || recorder_mine(process, thread, address);
    if (mine && (before + 1) % TRACE_BATCH != 0)
        return before + 1;
    if (!mine)
        recorder_touch(process, thread->mark, address);
    return atomic_fetch_add(&process->stamp, TRACE_BATCH);
}

/* The usual event: there is room, the thread records all addresses without call sites and does not
 * end (one comparison tells), and the next stamp of its batch will do. NULL: anything else. */
TRACE_INLINE recorder_thread *recorder_usual(uint64_t address) {
    recorder_thread *thread = recorder_self.thread;
    if (RECORDER_UNLIKELY(thread == NULL || thread->to.at >= thread->usual ||
                          (thread->to.stamp + 1) % TRACE_BATCH == 0))
        return NULL;
    return __libc_single_threaded || recorder_mine(recorder_now, thread, address) ? thread : NULL;
}

/* Where records end. */
TRACE_INLINE void recorder_set_limit(recorder_thread *thread, unsigned char *limit) {
    bool unusual = recorder_wishes.sample > 1 || recorder_wishes.sites || recorder_self.ended;
    thread->limit = limit;
    thread->usual = unusual ? NULL : limit;
}

/* Also false inside the recorder, and while a block is full and none can be had. */
TRACE_INLINE recorder_thread *recorder_room(void) {
    recorder_thread *thread = recorder_self.thread;
    if (RECORDER_UNLIKELY(thread == NULL || thread->to.at >= thread->limit))
        return recorder_more_room();
    return thread;
}

TRACE_INLINE void recorder_done(recorder_thread *thread) {
    thread->events++;
    if (RECORDER_UNLIKELY(recorder_self.ended))
        recorder_detach();
}

#pragma GCC visibility pop

#endif
