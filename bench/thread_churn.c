/* Threads that live for a moment: each allocates some blocks, frees most of them and ends; the
 * next one frees what the last one left. What a thread's first malloc and its end cost. */
#include "common/block.h"

static bench_config config = {
    .ops = 15000, .seed = 1, .threads = 1, .slots = 100, .min_size = 16, .max_size = 1024};
static uint64_t left_behind = 10;

static const bench_option options[] = {
    {.name = "left-behind",
     .kind = BENCH_COUNT,
     .value = &left_behind,
     .max = 1 << 20,
     .help = "of the --slots blocks, for the next thread"},
    {0},
};

typedef struct churn_state {
    uint64_t waiting; /* blocks of the thread before, at the start of blocks */
    uint32_t *sizes;  /* config.slots */
    void *blocks[];   /* config.slots */
} churn_state;

static void prepare(bench_worker *worker) {
    churn_state *state = bench_table(sizeof *state + config.slots * sizeof state->blocks[0]);
    state->sizes = bench_table(config.slots * sizeof state->sizes[0]);
    bench_draw_sizes(worker, state->sizes, config.slots);
    worker->state = state;
}

static void free_first(churn_state *state, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        free(state->blocks[i]);
}

/* The life of one thread. */
void bench_measured(bench_worker *worker) {
    churn_state *state = worker->state;
    uint64_t leaves = left_behind < config.slots ? left_behind : config.slots;
    free_first(state, state->waiting);
    for (uint64_t i = 0; i < config.slots; i++) {
        state->blocks[i] = bench_malloc(state->sizes[i]);
        bench_touch(state->blocks[i], state->sizes[i]);
    }
    for (uint64_t i = leaves; i < config.slots; i++)
        free(state->blocks[i]);
    state->waiting = leaves;
}

static void relay(bench_worker *worker) {
    for (uint64_t i = 0; i < worker->ops; i++)
        bench_in_new_thread(worker);
}

static void finish(bench_worker *worker) {
    churn_state *state = worker->state;
    free_first(state, state->waiting);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "thread_churn",
        .summary = "Starts threads one after the other; each allocates --slots blocks and frees "
                   "most of them.",
        .operation = "the whole life of one thread",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .prepare = prepare,
        .relay = relay,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
