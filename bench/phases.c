/* A queue of blocks whose sizes grow: the oldest go as new ones come, always as many bytes are
 * live, and in each phase blocks may be twice as large as in the one before. How much memory small
 * blocks keep that only few of are left: they lie scattered where many were. */
#include "common/block.h"

static bench_config config = {
    .ops = 1, .seed = 1, .threads = 1, .slots = 1, .min_size = 16, .max_size = 16384};
static uint64_t live_bytes = 64 << 20, turns = 2;

static const bench_option options[] = {
    {.name = "live",
     .kind = BENCH_BYTES,
     .value = &live_bytes,
     .min = 1 << 16,
     .max = UINT64_C(1) << 40,
     .help = "live at a time"},
    {.name = "turns",
     .kind = BENCH_COUNT,
     .value = &turns,
     .min = 1,
     .max = 1000,
     .help = "how often all blocks are replaced in each phase"},
    {0},
};

enum { FIRST_SHARE = 4 }; /* the first phase has sizes of up to so many times the smallest */

typedef struct live_block {
    void *block;
    uint64_t size;
} live_block;

typedef struct queue {
    live_block *blocks; /* a ring of `room` */
    uint64_t room, oldest, count, bytes;
} queue;

/* As many as there may be: the mean size of the first phase, and a fifth to spare. */
static uint64_t most_blocks(void) {
    uint64_t mean = config.min_size * (1 + FIRST_SHARE) / 2;
    return live_bytes / mean * 6 / 5 + 1;
}

static void prepare(bench_worker *worker) {
    queue *all = bench_table(sizeof *all);
    all->room = most_blocks();
    all->blocks = bench_table(all->room * sizeof *all->blocks);
    worker->state = all;
}

static void free_oldest(queue *all) {
    live_block *oldest = &all->blocks[all->oldest];
    free(oldest->block);
    all->bytes -= oldest->size;
    all->count--;
    all->oldest = all->oldest + 1 < all->room ? all->oldest + 1 : 0;
}

static void append(queue *all, size_t size) {
    while (all->count > 0 && (all->bytes + size > live_bytes || all->count == all->room))
        free_oldest(all);
    uint64_t at = all->oldest + all->count;
    live_block *newest = &all->blocks[at < all->room ? at : at - all->room];
    newest->block = bench_malloc(size);
    bench_touch_pages(newest->block, size);
    newest->size = size;
    all->bytes += size;
    all->count++;
}

/* Returns the blocks that were allocated. */
static uint64_t run_phase(queue *all, uint64_t most, uint64_t *rng) {
    uint64_t allocated = 0;
    for (uint64_t bytes = 0; bytes < turns * live_bytes; allocated++) {
        size_t size = bench_random_in(rng, config.min_size, most);
        append(all, size);
        bytes += size;
    }
    return allocated;
}

void bench_measured(bench_worker *worker) {
    uint64_t allocated = 0, most = config.min_size * FIRST_SHARE;
    for (; most <= config.max_size; most *= 2)
        allocated += run_phase(worker->state, most, &worker->rng);
    bench_result("blocks", allocated);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "phases",
        .summary = "Keeps --live bytes in a queue whose blocks may be twice as large in each "
                   "phase,\nfrom four times --min-size to --max-size.",
        .operation = "all phases (--ops has no effect; `blocks` in the result says how many)",
        .config = &config,
        .uses = BENCH_USES_SIZES,
        .options = options,
        .prepare = prepare,
    };
    return bench_main(argc, argv, &spec);
}
