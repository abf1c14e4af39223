/* One small size, a short queue of live blocks: the shortest road through malloc and free. */
#include "common/block.h"

static bench_config config = {.ops = 50000000, .seed = 1, .threads = 1, .slots = 100};
static uint64_t size = 64;

static const bench_option options[] = {
    {.name = "size",
     .kind = BENCH_BYTES,
     .value = &size,
     .min = 1,
     .max = 1 << 20,
     .help = "of every block"},
    {0},
};

static void prepare(bench_worker *worker) {
    void **queue = bench_table(config.slots * sizeof *queue);
    for (uint64_t i = 0; i < config.slots; i++)
        queue[i] = bench_malloc(size);
    worker->state = queue;
}

void bench_measured(bench_worker *worker) {
    void **queue = worker->state;
    size_t bytes = size, slots = config.slots, at = 0;
    for (uint64_t i = 0; i < worker->ops; i++) {
        free(queue[at]);
        queue[at] = bench_malloc(bytes);
        bench_touch(queue[at], bytes);
        at = at + 1 == slots ? 0 : at + 1;
    }
}

static void finish(bench_worker *worker) {
    void **queue = worker->state;
    for (uint64_t i = 0; i < config.slots; i++)
        free(queue[i]);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "tiny_hot",
        .summary = "A queue of small blocks of one size: the oldest goes, a new one comes.",
        .operation = "one free and one malloc, first and last byte written",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS,
        .options = options,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
