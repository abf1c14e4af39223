/* The main row: random blocks replaced by blocks of random size, every worker on its own. */
#include "common/slots.h"

static bench_config config = {
    .ops = 20000000, .seed = 1, .threads = 1, .slots = 400, .min_size = 16, .max_size = 1024};
static uint64_t sizes = SIZES_UNIFORM, touch = TOUCH_EDGES;
static const char *const size_names[] = {"uniform", "power", NULL};
static const char *const touch_names[] = {"edges", "pages", "all", NULL};

static const bench_option options[] = {
    {.name = "sizes",
     .kind = BENCH_CHOICE,
     .value = &sizes,
     .choices = size_names,
     .help = "how sizes are spread"},
    {.name = "touch",
     .kind = BENCH_CHOICE,
     .value = &touch,
     .choices = touch_names,
     .help = "what is written"},
    {0},
};

static void prepare(bench_worker *worker) {
    worker->state = touch == TOUCH_ALL
                        ? slot_table_new_whole(&config, (slot_sizes)sizes, &worker->rng)
                        : slot_table_new(&config, (slot_sizes)sizes, &worker->rng);
}

void bench_measured(bench_worker *worker) {
    slot_run(worker->state, worker->ops, config.check ? TOUCH_CHECK : (slot_touch)touch);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "random_mixed",
        .summary = "Replaces random blocks of a table by blocks of random size.",
        .operation = "one free and one malloc, first and last byte written",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES | BENCH_USES_CHECK,
        .options = options,
        .prepare = prepare,
        .finish = slot_table_finish,
    };
    return bench_main(argc, argv, &spec);
}
