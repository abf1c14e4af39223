/* A spike: a program with a small live set suddenly needs a lot of memory, frees it, and goes on
 * as before. Whether, and how fast, its resident memory comes back without being asked. */
#include "common/settle.h"
#include "common/slots.h"

static bench_config config = {
    .ops = 1, .seed = 1, .threads = 1, .slots = 20000, .min_size = 16, .max_size = 65536};
static uint64_t spike_bytes = 1 << 30, settle_ms = 5000;

static const bench_option options[] = {
    {.name = "spike",
     .kind = BENCH_BYTES,
     .value = &spike_bytes,
     .min = 1 << 20,
     .max = UINT64_C(1) << 40,
     .help = "allocated on top of the live set"},
    {.name = "settle-ms",
     .kind = BENCH_COUNT,
     .value = &settle_ms,
     .max = 60000,
     .help = "to watch the memory go back"},
    {0},
};

typedef struct spike_state {
    slot_table *live; /* --slots blocks of up to 1 KiB that stay all the time */
    uint32_t *sizes;
    void **blocks;
    uint64_t rss_before_kib;
} spike_state;

static uint64_t blocks_drawn;

/* As many blocks as the spike takes. */
static void setup(bench_config *all) {
    uint64_t rng = all->seed, bytes = 0;
    for (blocks_drawn = 0; bytes < spike_bytes; blocks_drawn++)
        bytes += slot_draw_size(all, SIZES_POWER, &rng);
    all->ops = blocks_drawn;
}

static void prepare(bench_worker *worker) {
    uint64_t rng = config.seed;
    bench_config small = config;
    spike_state *state = bench_table(sizeof *state);
    state->sizes = bench_table(blocks_drawn * sizeof *state->sizes);
    state->blocks = bench_table(blocks_drawn * sizeof *state->blocks);
    for (uint64_t i = 0; i < blocks_drawn; i++)
        state->sizes[i] = (uint32_t)slot_draw_size(&config, SIZES_POWER, &rng);
    small.max_size = small.min_size > 1024 ? small.min_size : 1024;
    state->live = slot_table_new(&small, SIZES_UNIFORM, &worker->rng);
    state->rss_before_kib = bench_rss_kib();
    worker->state = state;
}

void bench_measured(bench_worker *worker) {
    spike_state *state = worker->state;
    for (uint64_t i = 0; i < blocks_drawn; i++) {
        state->blocks[i] = bench_malloc(state->sizes[i]);
        bench_touch_pages(state->blocks[i], state->sizes[i]);
    }
    for (uint64_t i = 0; i < blocks_drawn; i++)
        free(state->blocks[i]);
}

static void finish(bench_worker *worker) {
    spike_state *state = worker->state;
    bench_result("rss_before_kib", state->rss_before_kib);
    bench_settle(settle_ms);
    slot_table_free_blocks(state->live, false);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "spike",
        .summary = "Allocates --spike bytes on top of a live set, frees them and watches the "
                   "memory go back.",
        .operation = "one block of the spike allocated and freed (--ops follows from --spike)",
        .config = &config,
        .uses = BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
