/* An allocator is small: alone in a loop it never misses the instruction cache. Here foreign code
 * runs between the operations, enough of it to push the allocator out each time. */
#include "common/foreign.h"
#include "common/slots.h"

static bench_config config = {
    .ops = 100000, .seed = 1, .threads = 1, .slots = 400, .min_size = 16, .max_size = 1024};
static uint64_t pressure = 96 * 1024;

static const bench_option options[] = {
    {.name = "pressure",
     .kind = BENCH_BYTES,
     .value = &pressure,
     .max = 64 << 20,
     .help = "foreign code between two operations"},
    {0},
};

enum { ORDER_LENGTH = 1 << 14 };

typedef struct pressure_state {
    slot_table *table;
    foreign_function *order[ORDER_LENGTH]; /* drawn before the clock starts */
    uint64_t result;                       /* keeps the foreign code alive */
} pressure_state;

static void prepare(bench_worker *worker) {
    pressure_state *state = bench_table(sizeof *state);
    for (size_t i = 0; i < ORDER_LENGTH; i++)
        state->order[i] = bench_foreign[bench_random_in(&worker->rng, 0, FOREIGN_FUNCTIONS - 1)];
    state->table = slot_table_new(&config, SIZES_UNIFORM, &worker->rng);
    worker->state = state;
}

static uint64_t run_foreign(pressure_state *state, uint64_t at, uint64_t calls) {
    uint64_t value = at;
    for (uint64_t i = 0; i < calls; i++)
        value = state->order[(at + i) % ORDER_LENGTH](value);
    return value;
}

BENCH_INLINE void run(bench_worker *worker, slot_touch touch) {
    pressure_state *state = worker->state;
    uint64_t calls = pressure / FOREIGN_BYTES;
    for (uint64_t i = 0; i < worker->ops; i++) {
        slot_replace(state->table, touch);
        state->result += run_foreign(state, i * calls, calls);
    }
}

void bench_measured(bench_worker *worker) {
    if (config.check)
        run(worker, TOUCH_CHECK);
    else
        run(worker, TOUCH_EDGES);
}

static void finish(bench_worker *worker) {
    pressure_state *state = worker->state;
    slot_table_free_blocks(state->table, config.check);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "icache_pressure",
        .summary = "Replaces random blocks, with foreign code that evicts the instruction cache "
                   "between the operations.",
        .operation = "one free, one malloc and the foreign code after them",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES | BENCH_USES_CHECK,
        .options = options,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
