/* How long single calls take. A table of blocks whose sizes span powers of two is churned; at each
 * fourth of the way half of it is freed at random and built anew later, as a cache that is
 * invalidated. Every malloc and free is timed, the clock's own 20 ns or so included. A long call is
 * left out if the system gave the processor to somebody else in it, or since the long call before:
 * that was not the allocator. How many were left out stands in the results. */
#include "common/slots.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static bench_config config = {
    .ops = 20000000, .seed = 1, .threads = 2, .slots = 200000, .min_size = 16, .max_size = 16384};

static uint64_t quiet_ms;

static const bench_option options[] = {
    {.name = "quiet-ms",
     .kind = BENCH_COUNT,
     .value = &quiet_ms,
     .max = 60000,
     .help = "after each half that is freed, with a call now and then"},
    {0},
};

enum {
    STEPS = 16, /* of the histogram in each power of two */
    BUCKETS = 64 * STEPS,
    LONG_NS = 5000, /* asked only beyond it: the question costs more than most calls */
    PARTS = 4,
};

typedef struct histogram {
    uint64_t counts[BUCKETS], total, longest;
} histogram;

typedef struct latency_state {
    void **blocks;
    histogram mallocs, frees;
    long preemptions; /* of this thread, as seen last */
    uint64_t left_out;
} latency_state;

static unsigned bucket_of(uint64_t ns) {
    if (ns < STEPS)
        return (unsigned)ns;
    unsigned power = 63u - (unsigned)__builtin_clzll(ns);
    return (power - 3) * STEPS + (unsigned)(ns >> (power - 4)) % STEPS;
}

/* The least time that falls into the bucket behind it. */
static uint64_t end_of(unsigned bucket) {
    unsigned power = bucket / STEPS + 3;
    if (bucket < STEPS)
        return bucket + 1;
    return (uint64_t)(STEPS + bucket % STEPS + 1) << (power - 4);
}

static long count_preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

static bool was_preempted(latency_state *state) {
    long before = state->preemptions;
    state->preemptions = count_preemptions();
    return state->preemptions != before;
}

static void note(latency_state *state, histogram *of, uint64_t ns) {
    if (ns > LONG_NS && was_preempted(state)) {
        state->left_out++;
        return;
    }
    of->counts[bucket_of(ns)]++;
    of->total++;
    of->longest = ns > of->longest ? ns : of->longest;
}

static void timed_free(latency_state *state, uint64_t slot) {
    if (state->blocks[slot] == NULL)
        return;
    uint64_t start = bench_now_ns();
    free(state->blocks[slot]);
    note(state, &state->frees, bench_now_ns() - start);
    state->blocks[slot] = NULL;
}

static void timed_malloc(latency_state *state, uint64_t slot, uint64_t *rng) {
    size_t size = slot_draw_size(&config, SIZES_POWER, rng);
    uint64_t start = bench_now_ns();
    void *block = malloc(size);
    note(state, &state->mallocs, bench_now_ns() - start);
    if (block == NULL)
        bench_fail("malloc(%zu) failed", size);
    bench_touch_pages(block, size);
    state->blocks[slot] = block;
}

static void prepare(bench_worker *worker) {
    latency_state *state = bench_table(sizeof *state);
    state->blocks = bench_table(config.slots * sizeof *state->blocks);
    state->preemptions = count_preemptions();
    worker->state = state;
}

static void free_half(latency_state *state, uint64_t *rng) {
    for (uint64_t slot = 0; slot < config.slots; slot++)
        if ((bench_random(rng) & 1) != 0)
            timed_free(state, slot);
}

/* What was freed may go back to the system meanwhile. */
static void be_quiet(latency_state *state, uint64_t *rng) {
    const struct timespec pause = {0, 200000};
    uint64_t end = bench_now_ns() + quiet_ms * 1000000;
    while (bench_now_ns() < end) {
        timed_free(state, 0);
        timed_malloc(state, 0, rng);
        nanosleep(&pause, NULL);
    }
}

/* A tenth of the table is all that is used for a while, then all of it. */
static void churn(latency_state *state, uint64_t ops, uint64_t *rng) {
    for (uint64_t i = 0; i < ops; i++) {
        uint64_t slots = i < ops / 2 ? config.slots / 10 : config.slots;
        uint64_t slot = bench_random_in(rng, 0, slots - 1);
        timed_free(state, slot);
        timed_malloc(state, slot, rng);
    }
}

void bench_measured(bench_worker *worker) {
    latency_state *state = worker->state;
    for (uint64_t slot = 0; slot < config.slots; slot++)
        timed_malloc(state, slot, &worker->rng);
    for (int part = 0; part < PARTS; part++) {
        free_half(state, &worker->rng);
        be_quiet(state, &worker->rng);
        churn(state, worker->ops / PARTS, &worker->rng);
    }
}

/* ---- the results, of all workers together ---- */

static void add(histogram *sum, const histogram *h) {
    for (unsigned i = 0; i < BUCKETS; i++)
        sum->counts[i] += h->counts[i];
    sum->total += h->total;
    sum->longest = h->longest > sum->longest ? h->longest : sum->longest;
}

/* The time that all but one call in `one_in` stay below. */
static uint64_t bound(const histogram *h, uint64_t one_in) {
    uint64_t beyond = h->total / one_in;
    unsigned bucket = BUCKETS - 1;
    for (uint64_t seen = h->counts[bucket]; seen <= beyond && bucket > 0;)
        seen += h->counts[--bucket];
    return end_of(bucket) < h->longest ? end_of(bucket) : h->longest;
}

static void add_up(latency_state *sum, const latency_state *state) {
    add(&sum->mallocs, &state->mallocs);
    add(&sum->frees, &state->frees);
    sum->left_out += state->left_out;
}

/* All workers have measured by now; they come here side by side, and the first speaks for all. */
static void finish(bench_worker *worker) {
    static latency_state all;
    if (worker->index != 0)
        return;
    for (uint64_t i = 0; i < config.threads; i++)
        add_up(&all, worker->all[i].state);
    const struct {
        const char *name;
        uint64_t ns;
    } results[] = {
        {"malloc_p50_ns", bound(&all.mallocs, 2)},
        {"malloc_p99_ns", bound(&all.mallocs, 100)},
        {"malloc_p999_ns", bound(&all.mallocs, 1000)},
        {"malloc_p9999_ns", bound(&all.mallocs, 10000)},
        {"malloc_max_ns", all.mallocs.longest},
        {"free_p50_ns", bound(&all.frees, 2)},
        {"free_p99_ns", bound(&all.frees, 100)},
        {"free_p999_ns", bound(&all.frees, 1000)},
        {"free_p9999_ns", bound(&all.frees, 10000)},
        {"free_max_ns", all.frees.longest},
        {"left_out", all.left_out},
    };
    for (unsigned i = 0; i < sizeof results / sizeof results[0]; i++)
        bench_result(results[i].name, results[i].ns);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "latency",
        .summary = "Times every single malloc and free of a table that is churned and half freed "
                   "in turn.",
        .operation = "one block freed and one allocated",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
