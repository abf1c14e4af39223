/* Blocks that one thread allocates and another frees: all frees are remote.
 * pair: the even workers allocate, the odd ones free. ring: every worker allocates for its right
 * neighbour and frees what comes from the left. */
#include "common/block.h"
#include "common/channel.h"

static bench_config config = {
    .ops = 10000000, .seed = 1, .threads = 2, .min_size = 16, .max_size = 512};

enum { PAIR, RING };
static uint64_t kind = PAIR;
static const char *const kind_names[] = {"pair", "ring", NULL};
static const bench_option options[] = {
    {.name = "kind",
     .kind = BENCH_CHOICE,
     .value = &kind,
     .choices = kind_names,
     .help = "who allocates for whom"},
    {0},
};

enum { SIZES = 1024 }; /* drawn before the clock starts; a power of two */

typedef struct handoff_state {
    channel from_left;
    uint64_t at;
    uint32_t sizes[SIZES];
} handoff_state;

static handoff_state *states; /* one per worker; made before any runs: neighbours look in */

static void setup(bench_config *all) {
    if (kind == PAIR && all->threads % 2 != 0)
        bench_fail("--kind pair needs an even number of threads");
    if (all->min_size < sizeof(uint32_t))
        bench_fail("the smallest block must hold its size: 4 bytes");
    all->ops -= all->ops % (CHANNEL_BATCH * all->threads);
    states = bench_table(all->threads * sizeof *states);
}

static void prepare(bench_worker *worker) {
    handoff_state *state = &states[worker->index];
    bench_draw_sizes(worker, state->sizes, SIZES);
    worker->state = state;
}

static void write_batch(handoff_state *self, channel *to) {
    void **batch = channel_next_written(to);
    for (size_t i = 0; i < CHANNEL_BATCH; i++) {
        size_t size = self->sizes[self->at++ % SIZES];
        batch[i] = bench_malloc(size);
        bench_touch(batch[i], size);
        *(uint32_t *)batch[i] = (uint32_t)size;
    }
    channel_written_done(to);
}

/* Reads the block, as whoever it is for would. */
static void read_batch(channel *from) {
    void **batch = channel_next_read(from);
    uint64_t bytes = 0;
    for (size_t i = 0; i < CHANNEL_BATCH; i++) {
        bytes += *(uint32_t *)batch[i];
        free(batch[i]);
    }
    if (bench_unlikely(bytes > CHANNEL_BATCH * config.max_size))
        bench_fail("contents changed between two threads");
    channel_read_done(from);
}

/* Each batch waits for room or for blocks; it never waits for both, so nothing can lock up. */
static void run(handoff_state *self, channel *to, uint64_t writes, channel *from, uint64_t reads) {
    uint32_t spins = 0;
    while (writes > 0 || reads > 0) {
        if (writes > 0 && channel_has_room(to)) {
            write_batch(self, to);
            writes--;
        } else if (reads > 0 && channel_has_batch(from)) {
            read_batch(from);
            reads--;
        } else {
            channel_pause(&spins);
        }
    }
}

void bench_measured(bench_worker *worker) {
    handoff_state *self = worker->state;
    uint64_t batches = worker->ops / CHANNEL_BATCH;
    uint64_t right = (worker->index + 1) % config.threads;
    bool writes = kind == RING || worker->index % 2 == 0;
    bool reads = kind == RING || worker->index % 2 == 1;
    uint64_t share = kind == RING ? batches : 2 * batches;
    run(self, &states[right].from_left, writes ? share : 0, &self->from_left, reads ? share : 0);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "handoff",
        .summary = "pair: one thread allocates, the other frees. ring: each allocates for its\n"
                   "neighbour, and frees what another neighbour allocated.",
        .operation = "one malloc by one thread and one free by another",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SIZES,
        .options = options,
        .setup = setup,
        .prepare = prepare,
    };
    return bench_main(argc, argv, &spec);
}
