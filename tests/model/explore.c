/* Who goes on, and every other choice: depth first over all of them. */
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "thread/thread.h"
#include "inside.h"
#include "os/lock.h"

enum { STACK = 256 << 10, CHOICES = 4096, MOST_PLACES = 256 };

/* ---- the path of choices ---- */

typedef struct choice {
    bool is_thread;
    uint8_t taken, count; /* a number below `count`, or a thread, ... */
    uint8_t able, asleep; /* ... one of those able to go on; asleep: no need to take it (again) */
} choice;

static choice path[CHOICES];
static size_t path_length, path_at;

/* ---- threads ---- */

typedef struct operation {
    const void *place;
    bool writes;
} operation;

/* What the library keeps for each thread. */
typedef struct own {
    hak_thread thread;
    uint32_t locks_held;
    bool forks;
} own;

static struct fiber {
    ucontext_t context;
    enum { ABSENT, READY, SLEEPING, DONE } state;
    operation next; /* what it does when it goes on */
    own own;
    char *stack;
} fibers[MODEL_THREADS];
static ucontext_t explorer;
static const scenario *explored;

int model_self = -1;
bool model_is_executing;
enum model_fault model_fault;
static const char *failure;
static uint8_t asleep; /* threads whose next operation was tried at this point already */
static unsigned switches, last_thread;

/* ---- places that several threads use; learned while exploring ---- */

static struct used_place {
    const void *address;
    uint8_t users;
    bool is_written;
} used_places[MOST_PLACES];
static size_t used_count;
static bool has_learned;

static bool is_shared(const struct used_place *p) {
    return p->is_written && (p->users & (p->users - 1)) != 0;
}

static bool note_use(const void *address, bool writes) {
    size_t i = 0;
    while (i < used_count && used_places[i].address != address)
        i++;
    if (i == MOST_PLACES)
        return true;
    if (i == used_count)
        used_places[used_count++] = (struct used_place){.address = address};
    bool was_shared = is_shared(&used_places[i]);
    used_places[i].users |= (uint8_t)(1u << model_self);
    used_places[i].is_written |= writes;
    has_learned |= is_shared(&used_places[i]) && !was_shared;
    return is_shared(&used_places[i]);
}

/* ---- choosing ---- */

static choice *next_choice(void) {
    if (path_at == CHOICES)
        abort();
    return &path[path_at++];
}

unsigned model_choose(unsigned count) {
    if (count <= 1)
        return 0;
    bool is_new = path_at == path_length;
    choice *c = next_choice();
    if (is_new) {
        *c = (choice){.count = (uint8_t)count};
        path_length++;
    }
    return c->taken;
}

static unsigned lowest(unsigned mask) {
    return (unsigned)__builtin_ctz(mask);
}

/* Threads that may go on. When the bound is reached, another one only where this one cannot. */
static unsigned able(void) {
    unsigned mask = 0;
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        if (fibers[i].state == READY)
            mask |= 1u << i;
    bool is_bound = explored->switches != 0 && switches >= explored->switches;
    return is_bound && (mask >> last_thread & 1) != 0 ? 1u << last_thread : mask;
}

static bool is_independent(const operation *a, const operation *b) {
    return a->place != b->place || (!a->writes && !b->writes);
}

/* Who was tried at this point, and does what this operation does not touch, need not come next.
 * Under a bound of switches the order of independent operations matters. */
static void fall_asleep(const choice *c) {
    asleep = 0;
    for (unsigned i = 0; i < MODEL_THREADS && explored->switches == 0; i++)
        if ((c->asleep >> i & 1) != 0 && i != c->taken &&
            is_independent(&fibers[i].next, &fibers[c->taken].next))
            asleep |= (uint8_t)(1u << i);
}

/* -1: all that could go on has been tried. */
static int choose_thread(void) {
    bool is_new = path_at == path_length;
    unsigned mask = able();
    if (is_new && (mask & ~(unsigned)asleep) == 0)
        return -1;
    choice *c = next_choice();
    if (is_new) {
        *c = (choice){true, (uint8_t)lowest(mask & ~(unsigned)asleep), 0, (uint8_t)mask, asleep};
        path_length++;
    }
    fall_asleep(c);
    if (c->taken != last_thread && fibers[last_thread].state == READY)
        switches++;
    last_thread = c->taken;
    return c->taken;
}

/* The next path. False: there is none. */
static bool advance(void) {
    while (path_length > 0) {
        choice *c = &path[path_length - 1];
        if (!c->is_thread && ++c->taken < c->count)
            return true;
        if (c->is_thread) {
            unsigned left = c->able & ~(unsigned)c->asleep & ~(1u << c->taken);
            if (left != 0) {
                c->asleep |= (uint8_t)(1u << c->taken);
                c->taken = (uint8_t)lowest(left);
                return true;
            }
        }
        path_length--;
    }
    return false;
}

/* ---- going from one thread to another ---- */

static void to_explorer(void) {
    struct fiber *f = &fibers[model_self];
    f->own = (own){hak_this_thread, hak_locks_held, hak_forks};
    swapcontext(&f->context, &explorer);
}

static void resume(int thread) {
    struct fiber *f = &fibers[thread];
    hak_this_thread = f->own.thread;
    hak_locks_held = f->own.locks_held;
    hak_forks = f->own.forks;
    model_self = thread;
    swapcontext(&explorer, &f->context);
    model_self = -1;
}

void model_step(const void *place, bool writes) {
    if (!note_use(place, writes))
        return;
    fibers[model_self].next = (operation){place, writes};
    to_explorer();
}

void model_sleep(const void *place) {
    fibers[model_self].state = SLEEPING;
    fibers[model_self].next.place = place;
    to_explorer();
}

int model_wake(const void *place, int most) {
    int woken = 0;
    for (; model_fault != MODEL_NO_WAKE && woken < most; woken++) {
        unsigned sleepers[MODEL_THREADS], count = 0;
        for (unsigned i = 0; i < MODEL_THREADS; i++)
            if (fibers[i].state == SLEEPING && fibers[i].next.place == place)
                sleepers[count++] = i;
        if (count == 0)
            break;
        fibers[sleepers[model_choose(count)]].state = READY;
    }
    return woken;
}

/* The rest of an execution that failed is of no interest. */
void model_failed(const char *why) {
    if (failure == NULL)
        failure = why;
    if (model_self >= 0)
        to_explorer();
}

static void run_thread(int thread) {
    explored->threads[thread]();
    fibers[thread].state = DONE;
    to_explorer();
}

/* ---- an execution ---- */

static void start(int thread) {
    struct fiber *f = &fibers[thread];
    if (f->stack == NULL)
        f->stack = malloc(STACK);
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, (void (*)(void))run_thread, 1, thread);
    f->own = (own){.thread = {.heap = (hak_heap *)(uintptr_t)&hak_no_heap}};
    f->state = READY;
    resume(thread); /* up to its first operation */
}

static bool all_done(void) {
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        if (fibers[i].state == READY || fibers[i].state == SLEEPING)
            return false;
    return true;
}

/* False: it was cut. */
static bool execute(void) {
    own outside = {hak_this_thread, hak_locks_held, hak_forks};
    int thread = 0;
    model_is_executing = true;
    model_memory_forget();
    model_trace(NULL, NULL, 0, 0);
    path_at = switches = last_thread = asleep = 0;
    for (int i = 0; i < MODEL_THREADS; i++) {
        fibers[i].state = ABSENT;
        if (explored->threads[i] != NULL)
            start(i);
    }
    while (failure == NULL && able() != 0 && (thread = choose_thread()) >= 0)
        resume(thread);
    hak_this_thread = outside.thread;
    hak_locks_held = outside.locks_held;
    hak_forks = outside.forks;
    if (failure == NULL && thread >= 0 && !all_done())
        failure = "deadlock: every thread waits";
    if (failure == NULL && thread >= 0)
        explored->end();
    model_is_executing = false;
    return thread >= 0;
}

result explore(const scenario *s, enum model_fault fault, size_t most) {
    result r = {0};
    explored = s;
    model_fault = fault;
    failure = NULL;
    path_length = used_count = 0;
    do {
        has_learned = false;
        if (execute())
            r.executions++;
        else
            r.cut++;
        model_undo();
        if (has_learned) /* more places to look at: from the beginning again */
            path_length = r.executions = r.cut = 0;
        r.failure = failure;
    } while (failure == NULL && r.executions < most && (has_learned || advance()));
    r.is_complete = failure == NULL && r.executions < most;
    return r;
}
