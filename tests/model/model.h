/* A checker that explores every execution of a few threads, under a weak memory model.
 *
 * The library's own functions are compiled with -fsanitize=thread, which turns each access to
 * memory into a call; but instead of ThreadSanitizer this checker answers the calls. The threads of
 * a scenario are fibers of one thread. At each atomic operation on a place that several of them use
 * the checker decides who goes on, and what a load reads:
 *
 *   lock.state    0 --1-- 0 --1-- 2 -- 0     all stores to a place, in their order
 *                         ^ oldest that this thread may still read: it knows of this one
 *
 * A load may read any store from there on, unless it is a read-modify-write, which reads the last
 * one. What a thread knows of comes with what it acquires. So stores overtake each other and loads
 * read old values, as C11 allows and AArch64 does. Of two plain accesses that nothing orders, one
 * of them a write, the first is the end: a data race. So is a thread that waits for ever, and a
 * CHECK of the scenario that fails.
 *
 *       first choice           each way is gone through once: depth first, from the
 *      /      |    \           beginning again for each, with all memory as it was
 *    T1      T2     T3         (a log of what was written is undone); a way that differs
 *   /  \    /  \              from one before it by the order of independent operations
 *  ...  ...                   alone is left out (sleep sets: Godefroid, LNCS 1032, 1996)
 *
 * Not explored: stores to one place in another order than that in which they were executed, loads
 * of values that depend on themselves, more than so many threads or steps. */
#ifndef HAKMEM_MODEL_H
#define HAKMEM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_THREADS = 4 };

/* What is made worse on purpose: then the checker must find a fault. */
enum model_fault {
    MODEL_SOUND,
    MODEL_NO_RELEASE, /* releases nothing */
    MODEL_NO_ACQUIRE, /* acquires nothing */
    MODEL_NO_ORDER,   /* sequentially consistent operations only release and acquire */
    MODEL_NO_WAKE,    /* the system wakes nobody */
    MODEL_FAULTS
};

typedef struct scenario {
    const char *name;
    const char *what;    /* for the reader of the table */
    void (*begin)(void); /* once: what is written after it is undone before each execution */
    void (*threads[MODEL_THREADS])(void);
    void (*end)(void); /* after each execution, in no thread */
    unsigned faults;   /* bits of enum model_fault that must be found */
    unsigned switches; /* explores only executions with so few switches of threads that could have
                          gone on; 0: all */
} scenario;

/* In a thread or the end of a scenario: the execution is faulty unless it holds. */
#define MODEL_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            model_failed(#condition);                                                              \
    } while (0)
void model_failed(const char *why);

extern const scenario scenario_lock, scenario_remote, scenario_remote_late, scenario_heaps,
    scenario_epoch;

#endif
