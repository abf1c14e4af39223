/* A trace as arrays of operations, one per thread: what the measured loop of replay.c reads.
 *
 * Trace readers allocate. What the allocator under test sees is to be the workload alone, so the
 * plan is made in a child process, twice: first to count, then into memory shared with it. */
#ifndef BENCH_REPLAY_PLAN_H
#define BENCH_REPLAY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum { REPLAY_THREADS_MAX = 1 << 16, REPLAY_ERROR = 256 };

/* Low three bits of `what`. The rest is the size, or with REPLAY_LARGE the index of a replay_large.
 * SPAWN and PASS name a thread in `slot`; PASS with REPLAY_LARGE is the last of its thread. FREE
 * with REPLAY_LARGE is free(NULL).
 *
 * PASS is for one thread at a time, AWAIT for threads that run freely: blocks that several threads
 * touch count the operations on them; AWAIT waits until the upper bits of `what` are reached, with
 * REPLAY_LARGE it counts one more. */
typedef enum replay_kind {
    REPLAY_MALLOC,
    REPLAY_CALLOC,
    REPLAY_ALIGNED,
    REPLAY_REALLOC,
    REPLAY_FREE,
    REPLAY_AWAIT,
    REPLAY_SPAWN,
    REPLAY_PASS,
} replay_kind;

enum { REPLAY_KIND_MASK = 7, REPLAY_LARGE = 8, REPLAY_SHIFT = 4, REPLAY_SIZE_MAX = (1 << 28) - 1 };

typedef struct replay_op {
    uint32_t slot; /* of the table of live blocks */
    uint32_t what;
} replay_op;

/* Sizes of 256 MiB and more, and everything with an alignment. */
typedef struct replay_large {
    uint64_t size, align; /* align: log2 */
} replay_large;

typedef struct replay_counts {
    uint64_t events;
    uint32_t threads, slots, larges;
    uint32_t ops[REPLAY_THREADS_MAX]; /* by thread; threads are numbered by their first event */
    char error[REPLAY_ERROR];         /* a sentence, or "" */
    char damage[REPLAY_ERROR];        /* of the trace: what and where, or "" */
} replay_counts;

/* Which events: of process `process` (UINT64_MAX: the one with the most), at most `limit`. In what
 * order: that of the trace, or for each block that of the trace and else as the threads run. */
typedef struct replay_wish {
    const char *path;
    uint64_t process, limit;
    bool freely;
} replay_wish;

/* Both run in the child. `ops` has room for all threads, one after the other. */
void replay_count(const replay_wish *wish, replay_counts *counts);
void replay_fill(const replay_wish *wish, const replay_counts *counts, replay_op *ops,
                 replay_large *larges);

#endif
