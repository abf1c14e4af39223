/* Blocks that grow by realloc: vectors that double, strings to which a little is appended, and
 * blocks that stay within their size class. Several grow in turn, so none of them can simply
 * extend into the free space behind it. */
#include "common/block.h"

static bench_config config = {
    .ops = 3000000, .seed = 1, .threads = 1, .slots = 16, .min_size = 16, .max_size = 65536};

enum { VECTOR, STRING, IN_PLACE };
static uint64_t kind = VECTOR;
static const char *const kind_names[] = {"vector", "string", "in_place", NULL};
static const bench_option options[] = {
    {.name = "kind",
     .kind = BENCH_CHOICE,
     .value = &kind,
     .choices = kind_names,
     .help = "how they grow"},
    {0},
};

typedef struct growing {
    void *block;
    size_t size;
} growing;

enum { APPENDED = 1024 }; /* lengths to append, a power of two */

typedef struct growth_state {
    uint32_t appended[APPENDED];
    growing items[]; /* config.slots */
} growth_state;

static void start_over(growing *item) {
    free(item->block);
    item->size = config.min_size;
    item->block = bench_malloc(item->size);
}

static void resize(growing *item, size_t size) {
    item->block = bench_kept(realloc(item->block, size));
    if (bench_unlikely(item->block == NULL))
        bench_fail("realloc to %zu bytes failed", size);
    item->size = size;
}

/* What both sizes have room for must have survived. */
static void check(const growing *item, size_t was) {
    bench_verify(item->block, was < item->size ? was : item->size, (uintptr_t)item);
    bench_fill(item->block, item->size, (uintptr_t)item);
}

BENCH_INLINE size_t next_size(const growth_state *state, size_t size, uint64_t i, uint64_t how) {
    if (how == VECTOR)
        return size * 2;
    return how == STRING ? size + state->appended[i % APPENDED] : config.min_size + (i & 1);
}

BENCH_INLINE void step(growing *item, size_t size, uint64_t how) {
    size_t kept = item->size;
    if (how != IN_PLACE && size > config.max_size) {
        start_over(item);
        kept = 0;
    } else {
        resize(item, size);
    }
    if (config.check)
        check(item, kept);
    else
        ((volatile char *)item->block)[item->size - 1] = 1;
}

BENCH_INLINE void grow(growth_state *state, uint64_t ops, uint64_t how) {
    uint64_t slots = config.slots, slot = 0;
    for (uint64_t i = 0; i < ops; i++) {
        growing *item = &state->items[slot];
        step(item, next_size(state, item->size, i, how), how);
        slot = slot + 1 == slots ? 0 : slot + 1;
    }
}

void bench_measured(bench_worker *worker) {
    if (kind == VECTOR)
        grow(worker->state, worker->ops, VECTOR);
    else if (kind == STRING)
        grow(worker->state, worker->ops, STRING);
    else
        grow(worker->state, worker->ops, IN_PLACE);
}

static void prepare(bench_worker *worker) {
    growth_state *state = bench_table(sizeof *state + config.slots * sizeof state->items[0]);
    for (size_t i = 0; i < APPENDED; i++)
        state->appended[i] = (uint32_t)bench_random_in(&worker->rng, 1, 32);
    for (uint64_t i = 0; i < config.slots; i++) {
        start_over(&state->items[i]);
        bench_fill(state->items[i].block, state->items[i].size, (uintptr_t)&state->items[i]);
    }
    worker->state = state;
}

static void finish(bench_worker *worker) {
    growth_state *state = worker->state;
    for (uint64_t i = 0; i < config.slots; i++)
        free(state->items[i].block);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "realloc_growth",
        .summary = "vector: doubles from the smallest to the largest size, then starts over.\n"
                   "string: 1 to 32 bytes more each time. in_place: one byte more, one byte less.",
        .operation = "one realloc (or, at the end of a growth, one free and one malloc)",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES | BENCH_USES_CHECK,
        .options = options,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
