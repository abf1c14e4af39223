/* What the parts of the checker know of each other. */
#ifndef HAKMEM_MODEL_INSIDE_H
#define HAKMEM_MODEL_INSIDE_H

#include "model.h"

/* ---- explore.c: threads and choices ---- */

typedef struct result {
    size_t executions, cut; /* cut: left out, because it would have been one of the others */
    const char *failure;    /* NULL: none */
    bool is_complete;
} result;

result explore(const scenario *s, enum model_fault fault, size_t most);

/* The thread that runs; -1: none. Between the beginning of an execution and the end of its end all
 * that is written is logged. */
extern int model_self;
extern bool model_is_executing;
extern enum model_fault model_fault;

/* A number below `count`; all of them in turn. */
unsigned model_choose(unsigned count);

/* Before an operation on a place: another thread may come first. */
void model_step(const void *place, bool writes);
/* The thread sleeps until model_wake; wakes at most `most` that sleep there. */
void model_sleep(const void *place);
int model_wake(const void *place, int most);

/* What was done, for the reader of a failure. */
void model_trace(const char *what, const void *place, uint64_t read, uint64_t written);
void model_tell(void);

/* ---- memory.c: atomic operations ---- */

typedef struct atomic_kind {
    uint64_t (*change)(uint64_t old, uint64_t operand); /* NULL: a load */
    bool compares, reads_last;
    int order, order_of_failure;
} atomic_kind;

/* Returns what it read. `expected`: of a comparison. */
uint64_t model_atomic(void *place, unsigned bytes, const atomic_kind *kind, uint64_t operand,
                      uint64_t expected, bool *done);
void model_fence(int order);
void model_memory_forget(void);

/* ---- plain.c: plain accesses and the log ---- */

/* How far each thread's past is known. */
typedef struct clocks {
    unsigned of[MODEL_THREADS];
} clocks;
extern clocks model_known[MODEL_THREADS];

void model_access(const void *place, size_t bytes, bool writes);
int model_writer(const void *place); /* who wrote there last */
void model_log(const void *place, size_t bytes);
void model_undo(void);
/* Places of which each fiber has its own, or of which races are meant. */
void model_ignore(const void *place, size_t bytes);
extern int model_ignores_reads;

#endif
