/* What a process costs that does next to nothing: the memory of the program itself, and of threads
 * that allocated a little and now wait. */
#include "common/block.h"

#include <time.h>

static bench_config config = {
    .ops = 64, .seed = 1, .threads = 1, .slots = 64, .min_size = 16, .max_size = 1024};
static uint64_t idle_ms = 200;

static const bench_option options[] = {
    {.name = "idle-ms",
     .kind = BENCH_COUNT,
     .value = &idle_ms,
     .max = 60000,
     .help = "that every thread waits"},
    {0},
};

static void setup(bench_config *all) {
    all->ops = all->threads * all->slots;
}

/* Half of the blocks stay. */
static void prepare(bench_worker *worker) {
    void **blocks = bench_table(config.slots * sizeof *blocks);
    for (uint64_t i = 0; i < config.slots; i++) {
        size_t size = bench_random_in(&worker->rng, config.min_size, config.max_size);
        blocks[i] = bench_malloc(size);
        bench_touch(blocks[i], size);
    }
    for (uint64_t i = 0; i < config.slots; i += 2)
        free(blocks[i]);
    worker->state = blocks;
}

void bench_measured(bench_worker *worker) {
    const struct timespec pause = {.tv_sec = (time_t)(idle_ms / 1000),
                                   .tv_nsec = (long)(idle_ms % 1000 * 1000000)};
    (void)worker;
    nanosleep(&pause, NULL);
}

static void finish(bench_worker *worker) {
    void **blocks = worker->state;
    for (uint64_t i = 1; i < config.slots; i += 2)
        free(blocks[i]);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "idle",
        .summary = "Threads that allocate --slots blocks, free every second one and wait; --slots "
                   "1 for a\nprocess that does next to nothing. Only the memory is of interest.",
        .operation = "one block allocated before the clock starts",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
