/* The threads of a program. Each waits until it is given calls and says when it has done them. */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "hakmem.h"
#include "programs.h"
#include "../allocator/support/check.h"

typedef struct worker {
    pthread_t thread;
    bool is_there, is_busy;
    sem_t has_calls, is_done;
    const call *calls; /* NULL: it ends */
    size_t count;
    unsigned number, rounds;
    call last; /* with which it ended, perhaps */
} worker;

static worker workers[THREADS];
static pthread_key_t at_end;

/* Destructors run in rounds as long as a value is set anew; the allocator lets go of a thread's
 * heap in the last but one, before this. In the last one ThreadSanitizer knows the thread no more.
 */
enum { LATE_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };

static void late(void *value) {
    worker *w = value;
    if (++w->rounds < LATE_ROUND)
        pthread_setspecific(at_end, w);
    else
        perform_late(&w->last);
}

static void end(worker *w, const call *c) {
    w->last = *c;
    w->rounds = 0;
    if (c->function == DO_end_late)
        pthread_setspecific(at_end, w);
    pthread_exit(NULL);
}

/* While threads run freely each sees the whole program and performs its own calls. */
static void perform_own(worker *w, const call *calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (calls[i].thread != w->number)
            continue;
        if (programs_are_told)
            call_print(&calls[i]);
        if (calls[i].function == DO_end || calls[i].function == DO_end_late)
            end(w, &calls[i]);
        perform(&calls[i]);
    }
}

static void *work(void *argument) {
    worker *w = argument;
    hak_free(hak_malloc(1));
    for (;;) {
        sem_wait(&w->has_calls);
        if (w->calls == NULL)
            return NULL;
        perform_own(w, w->calls, w->count);
        sem_post(&w->is_done);
    }
}

static void start(worker *w) {
    static bool began;
    if (!began)
        CHECK(pthread_key_create(&at_end, late) == 0);
    began = true;
    w->number = (unsigned)(w - workers);
    CHECK(sem_init(&w->has_calls, 0, 0) == 0 && sem_init(&w->is_done, 0, 0) == 0);
    CHECK(pthread_create(&w->thread, NULL, work, w) == 0);
    w->is_there = true;
}

static void give(worker *w, const call *calls, size_t count) {
    if (!w->is_there)
        start(w);
    w->calls = calls;
    w->count = count;
    w->is_busy = true;
    sem_post(&w->has_calls);
}

static void join(worker *w) {
    pthread_join(w->thread, NULL);
    w->is_there = w->is_busy = false;
}

static bool ends(const call *c) {
    return c->function == DO_end || c->function == DO_end_late;
}

/* The calls that come next and belong to one thread, up to one with which it ends. */
static size_t together(const call *calls, size_t count) {
    size_t n = 1;
    while (n < count && calls[n].thread == calls->thread && !ends(&calls[n - 1]))
        n++;
    return n;
}

static void run_in_turn(const call *calls, size_t count) {
    for (size_t i = 0, n; i < count; i += n) {
        n = together(calls + i, count - i);
        worker *w = &workers[calls[i].thread];
        give(w, calls + i, n);
        if (ends(&calls[i + n - 1]))
            join(w);
        else
            sem_wait(&w->is_done);
    }
}

/* Up to where every thread goes on: one that ends is started again behind that. */
static size_t until_an_end(const call *calls, size_t count) {
    size_t n = 0;
    while (n < count && !ends(&calls[n]))
        n++;
    return n < count ? n + 1 : n;
}

static void run_freely(const call *calls, size_t count) {
    for (size_t i = 0, n; i < count; i += n) {
        n = until_an_end(calls + i, count - i);
        for (worker *w = workers; w < workers + THREADS; w++)
            give(w, calls + i, n);
        const call *last = &calls[i + n - 1];
        for (worker *w = workers; w < workers + THREADS; w++)
            if (ends(last) && w->number == last->thread)
                join(w);
            else
                sem_wait(&w->is_done);
    }
}

void threads_run_calls(const call *calls, size_t count) {
    if (programs_run_freely)
        run_freely(calls, count);
    else
        run_in_turn(calls, count);
}

void threads_end(void) {
    for (worker *w = workers; w < workers + THREADS; w++)
        if (w->is_there) {
            give(w, NULL, 0);
            join(w);
        }
}
