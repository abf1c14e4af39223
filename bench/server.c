/* A server: sessions with many small objects and a few big buffers live in a table that all
 * threads share. Whoever picks a place opens a new session there and closes the old one, whichever
 * thread opened it. One atomic exchange a session is all that the threads share. */
#include "common/block.h"

#include <stdatomic.h>

static bench_config config = {.ops = 600000, .seed = 1, .threads = 1, .slots = 1000};

enum { SMALL_BLOCKS = 24, BIG_BLOCKS = 2, PLANS = 64, VISITS = 1 << 16 };

static uint64_t small_max = 512, big_min = 4096, big_max = 32768;
static const bench_option options[] = {
    {.name = "small-max",
     .kind = BENCH_BYTES,
     .value = &small_max,
     .min = 16,
     .max = 65536,
     .help = "largest small object"},
    {.name = "big-min",
     .kind = BENCH_BYTES,
     .value = &big_min,
     .min = 1,
     .max = 1 << 24,
     .help = "smallest big buffer"},
    {.name = "big-max",
     .kind = BENCH_BYTES,
     .value = &big_max,
     .min = 1,
     .max = 1 << 24,
     .help = "largest big buffer"},
    {0},
};

typedef struct session {
    uint32_t plan; /* which of the drawn plans it was opened by */
    void *small[SMALL_BLOCKS];
    void *big[BIG_BLOCKS];
} session;

typedef struct plan {
    uint32_t small[SMALL_BLOCKS];
    uint32_t big[BIG_BLOCKS];
} plan;

typedef struct visit {
    uint32_t place, plan;
} visit;

static _Atomic(session *) *places; /* config.slots for each worker, shared by all */
static plan plans[PLANS];

static void setup(bench_config *all) {
    uint64_t rng = all->seed;
    if (big_min > big_max)
        bench_fail("--big-min is above --big-max");
    places = bench_table(all->threads * all->slots * sizeof *places);
    for (size_t p = 0; p < PLANS; p++) {
        for (size_t i = 0; i < SMALL_BLOCKS; i++)
            plans[p].small[i] = (uint32_t)bench_random_in(&rng, 16, small_max);
        for (size_t i = 0; i < BIG_BLOCKS; i++)
            plans[p].big[i] = (uint32_t)bench_random_in(&rng, big_min, big_max);
    }
}

BENCH_INLINE void *open_block(size_t size, uint64_t tag) {
    void *block = bench_malloc(size);
    if (config.check)
        bench_fill(block, size, tag);
    else
        bench_touch(block, size);
    return block;
}

BENCH_INLINE void close_block(void *block, size_t size, uint64_t tag) {
    if (config.check)
        bench_verify(block, size, tag);
    free(block);
}

static session *open_session(uint32_t number) {
    const plan *drawn = &plans[number];
    session *born = bench_malloc(sizeof *born);
    born->plan = number;
    for (size_t i = 0; i < SMALL_BLOCKS; i++)
        born->small[i] = open_block(drawn->small[i], number);
    for (size_t i = 0; i < BIG_BLOCKS; i++)
        born->big[i] = open_block(drawn->big[i], number);
    return born;
}

static void close_session(session *old) {
    const plan *drawn = &plans[old->plan];
    for (size_t i = 0; i < BIG_BLOCKS; i++)
        close_block(old->big[i], drawn->big[i], old->plan);
    for (size_t i = 0; i < SMALL_BLOCKS; i++)
        close_block(old->small[i], drawn->small[i], old->plan);
    free(old);
}

static void prepare(bench_worker *worker) {
    visit *visits = bench_table(VISITS * sizeof *visits);
    uint64_t all_places = config.threads * config.slots;
    for (size_t i = 0; i < VISITS; i++)
        visits[i] = (visit){(uint32_t)bench_random_in(&worker->rng, 0, all_places - 1),
                            (uint32_t)bench_random_in(&worker->rng, 0, PLANS - 1)};
    for (uint64_t i = 0; i < config.slots; i++)
        atomic_store(&places[worker->index * config.slots + i],
                     open_session((uint32_t)(i % PLANS)));
    worker->state = visits;
}

void bench_measured(bench_worker *worker) {
    const visit *visits = worker->state;
    for (uint64_t i = 0; i < worker->ops; i++) {
        visit now = visits[i % VISITS];
        session *born = open_session(now.plan);
        close_session(atomic_exchange(&places[now.place], born));
    }
}

static void finish(bench_worker *worker) {
    for (uint64_t i = 0; i < config.slots; i++)
        close_session(atomic_load(&places[worker->index * config.slots + i]));
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "server",
        .summary = "Sessions of 24 small objects and 2 big buffers, opened by one thread and "
                   "closed by any.",
        .operation = "one session opened and one closed: 27 mallocs and 27 frees",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_CHECK,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
