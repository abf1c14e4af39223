/* What an answer about the heap costs, while a program has live blocks: hakmem's statistics, or
 * glibc's call, which other allocators have, too. */
#include "common/block.h"

#include <malloc.h>

static bench_config config = {.ops = 101, .seed = 1, .threads = 1, .slots = 1000};

enum { JSON, PROMETHEUS, MALLINFO2 };
static uint64_t size = 1000, ask = JSON;
static const char *const ask_names[] = {"json", "prometheus", "mallinfo2", NULL};
static const bench_option options[] = {
    {.name = "size",
     .kind = BENCH_BYTES,
     .value = &size,
     .min = 1,
     .max = 1 << 20,
     .help = "of every block"},
    {.name = "ask",
     .kind = BENCH_CHOICE,
     .value = &ask,
     .choices = ask_names,
     .help = "what is asked"},
    {0},
};

size_t hak_stats_json(char *buffer, size_t room) __attribute__((weak));
size_t hak_stats_prometheus(char *buffer, size_t room) __attribute__((weak));

enum { ROOM = 1 << 20 };
static char *answer;

static void setup(bench_config *settings) {
    (void)settings;
    if (ask != MALLINFO2 && (hak_stats_json == NULL || hak_stats_prometheus == NULL))
        bench_fail("the allocator has no hak_stats_json: preload hakmem, or --ask mallinfo2");
    answer = bench_table(ROOM);
}

static void prepare(bench_worker *worker) {
    void **blocks = worker->state = bench_table(config.slots * sizeof(void *));
    for (uint64_t i = 0; i < config.slots; i++) {
        blocks[i] = bench_malloc(size);
        bench_touch(blocks[i], size);
    }
}

static size_t one_answer(void) {
    if (ask == MALLINFO2)
        return mallinfo2().uordblks;
    return ask == JSON ? hak_stats_json(answer, ROOM) : hak_stats_prometheus(answer, ROOM);
}

void bench_measured(bench_worker *worker) {
    for (uint64_t i = 0; i < worker->ops; i++)
        if (bench_unlikely(one_answer() == 0))
            bench_fail("an empty answer");
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "answers",
        .summary = "Asks the allocator for its statistics while --slots blocks are live.",
        .operation = "one answer",
        .config = &config,
        .uses = BENCH_USES_SLOTS,
        .options = options,
        .setup = setup,
        .prepare = prepare,
    };
    return bench_main(argc, argv, &spec);
}
