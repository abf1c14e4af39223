/* A recorded program's allocations again: the same calls, in the same threads, in the same order.
 * One thread runs at a time, and the turn passes as it did in the trace; or they run freely, and
 * wait for each other only where they touch the same block. */
#include "common/block.h"
#include "replay_plan.h"

#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bench_config config = {.ops = 0, .seed = 1, .threads = 1};

enum { TOUCH_NONE, TOUCH_ENDS, TOUCH_PAGES };
enum { ORDER_EXACT, ORDER_FREE };
static const char *const order_names[] = {"exact", "free", NULL};
static const char *const touch_names[] = {"none", "ends", "pages", NULL};
static uint64_t trace, process = UINT64_MAX, touch = TOUCH_PAGES, later, order;

static const bench_option options[] = {
    {.name = "trace",
     .kind = BENCH_TEXT,
     .value = &trace,
     .help = "what `pipeline record` wrote; also as the first argument"},
    {.name = "process",
     .kind = BENCH_COUNT,
     .value = &process,
     .help = "of the trace, from 0; else the one with the most events"},
    {.name = "touch",
     .kind = BENCH_CHOICE,
     .value = &touch,
     .choices = touch_names,
     .help = "what is written into a new block"},
    {.name = "order",
     .kind = BENCH_CHOICE,
     .value = &order,
     .choices = order_names,
     .help = "of threads: one at a time as recorded, or all at once"},
    {.name = "later",
     .kind = BENCH_COUNT,
     .value = &later,
     .help = "read a random live block after every N operations, 0: never"},
    {0},
};

typedef struct replay_thread {
    _Alignas(64) _Atomic uint32_t turn; /* WAITING, RUNNING, or asleep until it is RUNNING */
    struct replay_thread *leaver;       /* who gave it to us and ended */
    pthread_t thread;
    bench_worker worker;
    const replay_op *ops, *end;
} replay_thread;

enum { WAITING, RUNNING, ASLEEP, SPINS = 200 };

static replay_counts *counts;
static replay_large *larges;
static replay_thread *threads;
static void **slots;
static _Atomic uint32_t *steps; /* by slot: operations done on a block that threads share */
static uint64_t rounds;
static volatile unsigned char seen; /* later touches end here */

/* ---- turns ---- */

static void give_turn(replay_thread *to) {
    if (atomic_exchange(&to->turn, RUNNING) == ASLEEP)
        syscall(SYS_futex, &to->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_turn(replay_thread *self) {
    for (int i = 0; i < SPINS && atomic_load(&self->turn) == WAITING; i++)
        __builtin_ia32_pause();
    uint32_t waiting = WAITING;
    if (atomic_compare_exchange_strong(&self->turn, &waiting, ASLEEP))
        while (atomic_load(&self->turn) == ASLEEP)
            syscall(SYS_futex, &self->turn, FUTEX_WAIT_PRIVATE, ASLEEP, NULL, NULL, 0);
    atomic_store(&self->turn, WAITING);
    if (self->leaver != NULL) /* its end happens here, whatever the scheduler does */
        pthread_join(self->leaver->thread, NULL);
    self->leaver = NULL;
}

static void *run_thread(void *argument) {
    replay_thread *self = argument;
    if (order == ORDER_EXACT)
        await_turn(self);
    bench_measured(&self->worker);
    return NULL;
}

static void spawn(uint32_t number) {
    if (pthread_create(&threads[number].thread, NULL, run_thread, &threads[number]) != 0)
        bench_fail("cannot start thread %u", number);
}

/* With REPLAY_LARGE one more operation on the block is done; else so many are waited for. */
static void keep_step(replay_op op) {
    if (op.what & REPLAY_LARGE) {
        atomic_fetch_add_explicit(&steps[op.slot], 1, memory_order_release);
        return;
    }
    uint32_t wanted = op.what >> REPLAY_SHIFT;
    for (int i = 0; atomic_load_explicit(&steps[op.slot], memory_order_acquire) < wanted; i++) {
        if (i < SPINS)
            __builtin_ia32_pause();
        else
            sched_yield();
    }
}

/* ---- operations ---- */

static replay_large size_of(replay_op op) {
    uint32_t value = op.what >> REPLAY_SHIFT;
    return op.what & REPLAY_LARGE ? larges[value] : (replay_large){value, 0};
}

BENCH_INLINE void first_touch(unsigned char *block, size_t size) {
    if (touch == TOUCH_NONE || size == 0)
        return;
    bench_touch(block, size);
    if (touch == TOUCH_PAGES && size > 4096)
        bench_touch_pages(block, size);
}

BENCH_INLINE void keep(uint32_t slot, void *block, size_t size) {
    block = bench_kept(block);
    if (bench_unlikely(block == NULL && size != 0))
        bench_fail("no memory for %zu bytes", size);
    slots[slot] = block;
}

static __attribute__((noinline)) void allocate_aligned(replay_op op) {
    replay_large wish = size_of(op);
    keep(op.slot, memalign((size_t)1 << (wish.align & 63), wish.size), wish.size);
    first_touch(slots[op.slot], wish.size);
}

static void look_at(uint64_t random) {
    const volatile unsigned char *block = slots[random % counts->slots];
    if (block != NULL)
        seen = *block;
}

BENCH_INLINE void perform(replay_op op) {
    size_t size = op.what >> REPLAY_SHIFT;
    if (bench_unlikely(op.what & REPLAY_LARGE) && (op.what & REPLAY_KIND_MASK) < REPLAY_FREE)
        size = size_of(op).size;
    switch ((replay_kind)(op.what & REPLAY_KIND_MASK)) {
    case REPLAY_MALLOC:
        keep(op.slot, malloc(size), size);
        first_touch(slots[op.slot], size);
        break;
    case REPLAY_CALLOC: /* zero already, and large tables are often used in places alone */
        keep(op.slot, calloc(1, size), size);
        if (touch != TOUCH_NONE && size > 0)
            bench_touch(slots[op.slot], size);
        break;
    case REPLAY_ALIGNED:
        allocate_aligned(op);
        break;
    case REPLAY_REALLOC:
        keep(op.slot, realloc(slots[op.slot], size), size);
        if (touch != TOUCH_NONE && size > 0)
            bench_touch(slots[op.slot], size);
        break;
    case REPLAY_FREE:
        if (op.what & REPLAY_LARGE) {
            free(NULL);
            break;
        }
        free(slots[op.slot]);
        slots[op.slot] = NULL;
        break;
    case REPLAY_AWAIT:
        keep_step(op);
        break;
    case REPLAY_SPAWN:
        spawn(op.slot);
        break;
    case REPLAY_PASS:
        break;
    }
}

/* One round of a thread. */
void bench_measured(bench_worker *worker) {
    replay_thread *self = worker->state;
    uint64_t left = later, random = worker->rng;
    for (const replay_op *op = self->ops; op < self->end; op++) {
        if ((op->what & REPLAY_KIND_MASK) == REPLAY_PASS) {
            bool last = op->what & REPLAY_LARGE;
            threads[op->slot].leaver = last ? self : NULL;
            give_turn(&threads[op->slot]);
            if (last)
                return;
            await_turn(self);
            continue;
        }
        perform(*op);
        if (later != 0 && --left == 0) {
            look_at(bench_random(&random));
            left = later;
        }
    }
}

/* What the program left behind when it ended; else a second round would need twice the memory. */
static void free_the_rest(void) {
    for (uint32_t i = 0; i < counts->slots; i++) {
        free(slots[i]);
        slots[i] = NULL;
        atomic_store_explicit(&steps[i], 0, memory_order_relaxed);
    }
}

static void play(bench_worker *worker) {
    (void)worker;
    for (uint64_t round = 0; round < rounds; round++) {
        bench_measured(&threads[0].worker);
        for (uint32_t i = 1; order == ORDER_FREE && i < counts->threads; i++)
            pthread_join(threads[i].thread, NULL);
        if (round + 1 < rounds)
            free_the_rest();
    }
}

/* ---- the plan ---- */

typedef enum step { COUNT, FILL } step;

static void in_child(step what, const replay_wish *wish, replay_op *ops) {
    pid_t child = fork();
    if (child == 0) {
        if (what == COUNT)
            replay_count(wish, counts);
        else
            replay_fill(wish, counts, ops, larges);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        bench_fail("%s: reading it failed", wish->path);
    if (counts->error[0] != '\0')
        bench_fail("%s: %s", wish->path, counts->error);
}

static void make_threads(replay_op *ops) {
    threads = bench_table(counts->threads * sizeof *threads);
    for (uint32_t i = 0; i < counts->threads; i++) {
        threads[i].worker =
            (bench_worker){.config = &config, .state = &threads[i], .rng = config.seed};
        threads[i].ops = ops;
        threads[i].end = ops += counts->ops[i];
    }
}

static void setup(bench_config *all) {
    if (trace == 0)
        bench_fail("which trace? replay FILE; see --help");
    if (order == ORDER_FREE && later != 0)
        bench_fail("--later looks at blocks that other threads may free: not with --order free");
    replay_wish wish = {.path = (const char *)(uintptr_t)trace,
                        .process = process,
                        .limit = all->ops ? all->ops : UINT64_MAX,
                        .freely = order == ORDER_FREE};
    counts = bench_table(sizeof *counts);
    in_child(COUNT, &wish, NULL);
    if (counts->damage[0] != '\0')
        fprintf(stderr, "%s: damaged: %s; played up to there\n", wish.path, counts->damage);
    uint64_t total = 0;
    for (uint32_t i = 0; i < counts->threads; i++)
        total += counts->ops[i];
    replay_op *ops = bench_table((total + 1) * sizeof *ops);
    larges = bench_table((counts->larges + 1) * sizeof *larges);
    slots = bench_table((counts->slots + 1) * sizeof *slots);
    steps = bench_table((counts->slots + 1) * sizeof *steps);
    in_child(FILL, &wish, ops);
    make_threads(ops);
    rounds = all->ops > counts->events ? all->ops / counts->events : 1;
    all->ops = rounds * counts->events;
    bench_result("events", counts->events);
    bench_result("trace_threads", counts->threads);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "replay",
        .summary = "Replays a trace: the same calls in the same threads and the same order.\n"
                   "--ops beyond the length of the trace plays it again; 0: once, whole.",
        .operation = "one call of the malloc family",
        .config = &config,
        .options = options,
        .setup = setup,
        .relay = play,
    };
    char option[] = "--trace", *arguments[64];
    if (argc < 2 || argv[1][0] == '-' || argc + 1 > 63)
        return bench_main(argc, argv, &spec);
    arguments[0] = argv[0];
    arguments[1] = option;
    memcpy(arguments + 2, argv + 1, (size_t)argc * sizeof *argv);
    return bench_main(argc + 1, arguments, &spec);
}
