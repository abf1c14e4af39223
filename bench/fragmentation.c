/* Fill, free nine blocks of ten at random, refill with blocks of other sizes, free all: how much
 * memory the survivors of the first kind pin, and when it comes back. */
#include "common/block.h"
#include "common/settle.h"

static bench_config config = {
    .ops = 2000000, .seed = 1, .threads = 1, .slots = 400000, .min_size = 16, .max_size = 512};
static uint64_t settle_ms = 1000;

static const bench_option options[] = {
    {.name = "settle-ms",
     .kind = BENCH_COUNT,
     .value = &settle_ms,
     .max = 60000,
     .help = "to watch the memory go back at the end"},
    {0},
};

enum { SURVIVORS = 10, LARGER = 4 }; /* one block in ten stays; the others come back 4 x as large */

typedef struct fragment_state {
    uint32_t *order; /* of freeing: slots in random order */
    uint32_t *sizes;
    void **first, **second;
    uint64_t slots, survivors, refills;
} fragment_state;

static void shuffle(uint32_t *order, uint64_t count, uint64_t *rng) {
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        uint64_t other = bench_random_in(rng, 0, i);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void prepare(bench_worker *worker) {
    fragment_state *state = bench_table(sizeof *state);
    state->slots = config.slots;
    state->survivors = state->slots / SURVIVORS;
    state->refills = (state->slots - state->survivors) / LARGER;
    state->order = bench_table(state->slots * sizeof *state->order);
    state->sizes = bench_table(state->slots * sizeof *state->sizes);
    state->first = bench_table(state->slots * sizeof *state->first);
    state->second = bench_table((state->refills + 1) * sizeof *state->second);
    shuffle(state->order, state->slots, &worker->rng);
    bench_draw_sizes(worker, state->sizes, state->slots);
    worker->state = state;
}

static void fill(void **blocks, const uint32_t *sizes, uint64_t count, size_t factor) {
    for (uint64_t i = 0; i < count; i++) {
        blocks[i] = bench_malloc(sizes[i] * factor);
        bench_touch(blocks[i], sizes[i] * factor);
    }
}

static void free_in_order(void **blocks, const uint32_t *order, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        free(blocks[order[i]]);
}

/* The memory after each phase is noted in the last round. */
static void note(bool last, const char *key) {
    if (last)
        bench_result(key, bench_rss_kib());
}

static void run_round(fragment_state *state, bool last) {
    uint64_t freed = state->slots - state->survivors;
    fill(state->first, state->sizes, state->slots, 1);
    note(last, "rss_full_kib");
    free_in_order(state->first, state->order, freed);
    note(last, "rss_sparse_kib");
    fill(state->second, state->sizes, state->refills, LARGER);
    note(last, "rss_refilled_kib");
    free_in_order(state->first, state->order + freed, state->survivors);
    for (uint64_t i = 0; i < state->refills; i++)
        free(state->second[i]);
}

static uint64_t blocks_per_round(uint64_t slots) {
    return slots + (slots - slots / SURVIVORS) / LARGER;
}

static void setup(bench_config *all) {
    uint64_t per_round = blocks_per_round(all->slots);
    uint64_t rounds = all->ops / per_round;
    all->ops = (rounds > 0 ? rounds : 1) * per_round;
}

void bench_measured(bench_worker *worker) {
    uint64_t rounds = worker->ops / blocks_per_round(config.slots);
    for (uint64_t round = 1; round <= rounds; round++)
        run_round(worker->state, round == rounds);
}

static void finish(bench_worker *worker) {
    (void)worker;
    bench_settle(settle_ms);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "fragmentation",
        .summary = "Fills, frees 90 % at random, refills with blocks four times as large, frees "
                   "all; reports\nthe resident memory after each phase.",
        .operation = "one block allocated and freed (--ops is rounded to whole rounds)",
        .config = &config,
        .uses = BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
