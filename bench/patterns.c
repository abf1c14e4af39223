/* The regular patterns: what is freed next is what came last, what came first, or what was there
 * all the time. No random walk, so a few instructions more or less show. */
#include "common/block.h"

static bench_config config = {.ops = 20000000, .seed = 1, .threads = 1, .slots = 64};

enum { PINGPONG, QUEUE, FIFO, LIFO };
enum { BY_MALLOC, BY_CALLOC, BY_MEMALIGN };
static uint64_t pattern = QUEUE, call = BY_MALLOC, size = 0, alignment = 64;

static const char *const pattern_names[] = {"pingpong", "queue", "fifo", "lifo", NULL};
static const char *const call_names[] = {"malloc", "calloc", "posix_memalign", NULL};
static const bench_option options[] = {
    {.name = "pattern",
     .kind = BENCH_CHOICE,
     .value = &pattern,
     .choices = pattern_names,
     .help = "what is freed next"},
    {.name = "call",
     .kind = BENCH_CHOICE,
     .value = &call,
     .choices = call_names,
     .help = "who allocates"},
    {.name = "size",
     .kind = BENCH_BYTES,
     .value = &size,
     .max = 1 << 24,
     .help = "of every block; 0: eight sizes from 16 to 256"},
    {.name = "alignment",
     .kind = BENCH_BYTES,
     .value = &alignment,
     .min = 8,
     .max = 1 << 20,
     .help = "for posix_memalign, a power of two"},
    {0},
};

enum { SIZES = 1024 }; /* drawn before the clock starts; a power of two */

typedef struct pattern_state {
    uint64_t at; /* in sizes; goes on from call to call */
    uint32_t sizes[SIZES];
    void *blocks[]; /* config.slots */
} pattern_state;

BENCH_INLINE void *allocate(size_t bytes, uint64_t by) {
    void *block = NULL;
    if (by == BY_CALLOC)
        block = calloc(1, bytes);
    else if (by == BY_MALLOC)
        block = malloc(bytes);
    else if (posix_memalign(&block, alignment, bytes) != 0)
        block = NULL;
    block = bench_kept(block);
    if (bench_unlikely(block == NULL))
        bench_fail("no block of %zu bytes", bytes);
    return block;
}

/* A block that carries its size at both ends under --check, and a mark otherwise. */
BENCH_INLINE void *take(const pattern_state *state, uint64_t *at, uint64_t by) {
    size_t bytes = state->sizes[(*at)++ % SIZES];
    void *block = allocate(bytes, by);
    if (config.check) {
        if (by == BY_CALLOC)
            bench_verify_zero(block, bytes);
        bench_fill(block, bytes, bytes);
    } else {
        bench_touch(block, bytes);
    }
    return block;
}

/* The k-th block back from the one that take() gives next at `at`. */
BENCH_INLINE void give(const pattern_state *state, uint64_t at, void *block, uint64_t back) {
    size_t bytes = state->sizes[(at - back) % SIZES];
    if (config.check)
        bench_verify(block, bytes, bytes);
    free(block);
}

/* Each pattern counts in a register and returns where it got to. A counter in memory is another
 * address that a block's may be taken for: then the loop would wait for itself, not for malloc. */
BENCH_INLINE uint64_t pingpong(const pattern_state *state, uint64_t at, uint64_t ops, uint64_t by) {
    for (uint64_t i = 0; i < ops; i++) {
        void *block = take(state, &at, by);
        give(state, at, block, 1);
    }
    return at;
}

/* The queue is full before the clock starts and stays so. */
BENCH_INLINE uint64_t queue(pattern_state *state, uint64_t at, uint64_t ops, uint64_t by) {
    uint64_t slots = config.slots, slot = at % slots;
    for (uint64_t i = 0; i < ops; i++) {
        give(state, at, state->blocks[slot], slots);
        state->blocks[slot] = take(state, &at, by);
        slot = slot + 1 == slots ? 0 : slot + 1;
    }
    return at;
}

BENCH_INLINE uint64_t batches(pattern_state *state, uint64_t at, uint64_t ops, uint64_t by,
                              bool last_first) {
    uint64_t slots = config.slots;
    for (uint64_t left = ops; left > 0;) {
        uint64_t batch = left < slots ? left : slots;
        for (uint64_t i = 0; i < batch; i++)
            state->blocks[i] = take(state, &at, by);
        if (last_first)
            for (uint64_t i = batch; i-- > 0;)
                give(state, at, state->blocks[i], batch - i);
        else
            for (uint64_t i = 0; i < batch; i++)
                give(state, at, state->blocks[i], batch - i);
        left -= batch;
    }
    return at;
}

BENCH_INLINE void run(pattern_state *state, uint64_t ops, uint64_t by) {
    uint64_t at = state->at;
    if (pattern == PINGPONG)
        state->at = pingpong(state, at, ops, by);
    else if (pattern == QUEUE)
        state->at = queue(state, at, ops, by);
    else
        state->at = batches(state, at, ops, by, pattern == LIFO);
}

void bench_measured(bench_worker *worker) {
    if (call == BY_CALLOC)
        run(worker->state, worker->ops, BY_CALLOC);
    else if (call == BY_MEMALIGN)
        run(worker->state, worker->ops, BY_MEMALIGN);
    else
        run(worker->state, worker->ops, BY_MALLOC);
}

static void prepare(bench_worker *worker) {
    static const uint32_t eight_sizes[] = {16, 32, 48, 64, 96, 128, 192, 256};
    pattern_state *state = bench_table(sizeof *state + config.slots * sizeof state->blocks[0]);
    for (size_t i = 0; i < SIZES; i++)
        state->sizes[i] =
            size != 0 ? (uint32_t)size : eight_sizes[bench_random_in(&worker->rng, 0, 7)];
    for (uint64_t i = 0; pattern == QUEUE && i < config.slots; i++)
        state->blocks[i] = take(state, &state->at, call);
    worker->state = state;
}

static void finish(bench_worker *worker) {
    pattern_state *state = worker->state;
    for (uint64_t i = 0; pattern == QUEUE && i < config.slots; i++)
        free(state->blocks[i]);
}

static void setup(bench_config *all) {
    if (pattern == QUEUE && all->slots > SIZES)
        bench_fail("--pattern queue takes at most %d slots", SIZES);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "patterns",
        .summary = "pingpong: malloc, free. queue: free the oldest of --slots, malloc a new one.\n"
                   "fifo, lifo: malloc --slots blocks, free them in that or in reverse order.",
        .operation = "one malloc (calloc, posix_memalign) and one free, first and last byte "
                     "written",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_CHECK,
        .options = options,
        .setup = setup,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
