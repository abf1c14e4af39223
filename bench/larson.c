/* A server's habit, after Larson and Krishnan: a thread works on a table of blocks for a while,
 * then ends and leaves its blocks to a new thread, which frees them one by one. In every round all
 * blocks belong to a thread that is gone, or (they turn to the left) to a neighbour. */
#include "common/slots.h"

#include <pthread.h>

static bench_config config = {
    .ops = 10000000, .seed = 1, .threads = 2, .slots = 1000, .min_size = 16, .max_size = 1024};
static uint64_t rounds = 50;
static pthread_barrier_t round_ended;

static const bench_option options[] = {
    {.name = "rounds",
     .kind = BENCH_COUNT,
     .value = &rounds,
     .min = 1,
     .max = 1000000,
     .help = "generations of threads"},
    {0},
};

static void setup(bench_config *all) {
    pthread_barrier_init(&round_ended, NULL, (unsigned)all->threads);
}

static void prepare(bench_worker *worker) {
    worker->state = slot_table_new(&config, SIZES_UNIFORM, &worker->rng);
    worker->ops = config.ops / config.threads;
}

/* Nobody runs between the two barriers, so the neighbour's table may be taken. */
static void take_neighbours_table(bench_worker *worker) {
    pthread_barrier_wait(&round_ended);
    void *table = worker->all[(worker->index + 1) % config.threads].state;
    pthread_barrier_wait(&round_ended);
    worker->state = table;
}

static void relay(bench_worker *worker) {
    uint64_t left = worker->ops;
    for (uint64_t round = rounds; round > 0; round--) {
        worker->ops = left / round;
        left -= worker->ops;
        bench_in_new_thread(worker);
        take_neighbours_table(worker);
    }
}

void bench_measured(bench_worker *worker) {
    slot_run(worker->state, worker->ops, config.check ? TOUCH_CHECK : TOUCH_EDGES);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "larson",
        .summary = "Threads replace random blocks, end, and hand their blocks on to new threads.",
        .operation = "one free and one malloc, first and last byte written",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES | BENCH_USES_CHECK,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .relay = relay,
        .finish = slot_table_finish,
    };
    return bench_main(argc, argv, &spec);
}
