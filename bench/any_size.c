/* How long the slowest call takes, whatever is asked for: sizes from 1 byte to 2^60, each power of
 * two as likely as the next, from each function of the family, and freed at once. A call in which
 * the system gave the processor to somebody else counts as well: run it with a real-time priority,
 * or take the lowest of some runs. The blocks stay untouched but for their first byte. */
#include "common/block.h"

#include <malloc.h>
#include <stdlib.h>

static bench_config config = {.ops = 20000, .seed = 1, .threads = 1};

enum { BY_MALLOC, BY_CALLOC, BY_REALLOC, BY_MEMALIGN, CALLS, TOP_BITS = 60, TOP_ALIGNMENT = 46 };

typedef struct slowest_state {
    uint64_t take[CALLS], give, refused;
} slowest_state;

static void *allocate(uint64_t call, size_t size, size_t alignment) {
    void *block = NULL;
    switch (call) {
    case BY_MALLOC:
        return malloc(size);
    case BY_CALLOC:
        return calloc(1, size);
    case BY_REALLOC:
        return realloc(NULL, size);
    default:
        return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
    }
}

static void note(uint64_t *slowest, uint64_t start) {
    uint64_t ns = bench_now_ns() - start;
    *slowest = ns > *slowest ? ns : *slowest;
}

static void one(slowest_state *state, uint64_t *rng) {
    uint64_t bits = bench_random_in(rng, 1, TOP_BITS), call = bench_random_in(rng, 0, CALLS - 1);
    size_t size = 1 + (size_t)(bench_random(rng) & ((UINT64_C(1) << bits) - 1));
    size_t alignment = (size_t)1 << bench_random_in(rng, 3, TOP_ALIGNMENT);
    uint64_t start = bench_now_ns();
    char *block = bench_kept(allocate(call, size, alignment));
    note(&state->take[call], start);
    if (block == NULL) {
        state->refused++;
        return;
    }
    *(volatile char *)block = 1;
    start = bench_now_ns();
    free(block);
    note(&state->give, start);
}

void bench_measured(bench_worker *worker) {
    for (uint64_t i = 0; i < worker->ops; i++)
        one(worker->state, &worker->rng);
}

static void prepare(bench_worker *worker) {
    worker->state = bench_table(sizeof(slowest_state));
}

static void finish(bench_worker *worker) {
    static const char *const names[CALLS] = {"malloc_max_ns", "calloc_max_ns", "realloc_max_ns",
                                             "posix_memalign_max_ns"};
    const slowest_state *state = worker->state;
    for (int call = 0; call < CALLS; call++)
        bench_result(names[call], state->take[call]);
    bench_result("free_max_ns", state->give);
    bench_result("refused", state->refused);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "any_size",
        .summary = "The slowest call among requests of 1 byte to 2^60.",
        .operation = "one block allocated, its first byte written, and freed",
        .config = &config,
        .uses = 0,
        .prepare = prepare,
        .finish = finish,
    };
    return bench_main(argc, argv, &spec);
}
