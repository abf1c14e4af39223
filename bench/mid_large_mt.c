/* Threads that work on middle and large blocks, each on its own table: the road behind the small
 * classes (page runs, large objects), and what threads cost each other there. */
#include "common/slots.h"

static bench_config config = {
    .ops = 1000000, .seed = 1, .threads = 2, .slots = 400, .min_size = 2048, .max_size = 65536};

static void prepare(bench_worker *worker) {
    worker->state = slot_table_new(&config, SIZES_POWER, &worker->rng);
}

void bench_measured(bench_worker *worker) {
    slot_run(worker->state, worker->ops, config.check ? TOUCH_CHECK : TOUCH_EDGES);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "mid_large_mt",
        .summary = "Replaces random middle and large blocks, every thread on its own table.",
        .operation = "one free and one malloc, first and last byte written",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES | BENCH_USES_CHECK,
        .prepare = prepare,
        .finish = slot_table_finish,
    };
    return bench_main(argc, argv, &spec);
}
