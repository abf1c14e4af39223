/* Threads that free what they had and then sleep: what the process holds for them at first, after
 * a while in which one of them goes on a little, and after malloc_trim. With --kind turns each
 * frees what the one before it allocated, and what it freed belongs to a thread that sleeps. */
#include "common/block.h"
#include "common/settle.h"

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { STEP = 48, MOST_SIZES = 64 };
enum { TURNS, SIZES };

static bench_config config = {
    .ops = 1, .seed = 1, .threads = 40, .slots = 40000, .min_size = 16, .max_size = 1024};
static uint64_t kind = TURNS, sizes = 40, pause_ms = 20, settle_ms = 2000;
static const char *const kind_names[] = {"turns", "sizes", NULL};

static const bench_option options[] = {
    {.name = "kind",
     .kind = BENCH_CHOICE,
     .value = &kind,
     .choices = kind_names,
     .help = "one after the other, or all at once with many sizes"},
    {.name = "different-sizes",
     .kind = BENCH_COUNT,
     .value = &sizes,
     .min = 1,
     .max = MOST_SIZES,
     .help = "of --kind sizes, --slots blocks each"},
    {.name = "pause-ms",
     .kind = BENCH_COUNT,
     .value = &pause_ms,
     .max = 60000,
     .help = "between two turns"},
    {.name = "settle-ms",
     .kind = BENCH_COUNT,
     .value = &settle_ms,
     .max = 60000,
     .help = "to watch the memory go back"},
    {0},
};

static pthread_barrier_t done, looked_at;
static sem_t *turns;     /* of each thread */
static void **passed_on; /* --slots blocks of whoever had the turn before, or NULL */

static void setup(bench_config *all) {
    all->ops = all->threads * all->slots * (kind == SIZES ? sizes : 1);
    passed_on = bench_table(all->slots * sizeof *passed_on);
    turns = bench_table((all->threads + 1) * sizeof *turns);
    for (uint64_t i = 0; i <= all->threads; i++)
        sem_init(&turns[i], 0, i == 0);
    if (pthread_barrier_init(&done, NULL, (unsigned)all->threads) != 0 ||
        pthread_barrier_init(&looked_at, NULL, (unsigned)all->threads) != 0)
        bench_fail("no barrier for %llu threads", (unsigned long long)all->threads);
}

/* Written here and not when the threads run: the table is no memory of theirs. */
static void prepare(bench_worker *worker) {
    size_t blocks = kind == SIZES ? sizes * config.slots : 1;
    worker->state = bench_table(blocks * sizeof(void *));
}

static void replace_all(uint64_t *rng) {
    for (uint64_t i = 0; i < config.slots; i++) {
        free(passed_on[i]);
        passed_on[i] = NULL;
    }
    for (uint64_t i = 0; i < config.slots; i++) {
        size_t size = bench_random_in(rng, config.min_size, config.max_size);
        passed_on[i] = bench_malloc(size);
        bench_touch_pages(passed_on[i], size);
    }
}

static void take_turn(bench_worker *worker) {
    const struct timespec pause = {.tv_sec = (time_t)(pause_ms / 1000),
                                   .tv_nsec = (long)(pause_ms % 1000 * 1000000)};
    while (sem_wait(&turns[worker->index]) != 0)
        ;
    replace_all(&worker->rng);
    nanosleep(&pause, NULL);
    sem_post(&turns[worker->index + 1]);
}

static void use_sizes(void **blocks) {
    for (uint64_t i = 0; i < sizes * config.slots; i++) {
        size_t size = config.min_size + i % sizes * STEP;
        blocks[i] = bench_malloc(size);
        bench_touch(blocks[i], size);
    }
    for (uint64_t i = 0; i < sizes * config.slots; i++)
        free(blocks[i]);
}

/* The threads still live when the first looks; after this they would have ended. */
static void sleep_while_it_settles(bool looks) {
    pthread_barrier_wait(&done);
    if (looks) {
        bench_settle(settle_ms);
        malloc_trim(0);
        bench_result("rss_trimmed_kib", bench_rss_kib());
    }
    pthread_barrier_wait(&looked_at);
}

void bench_measured(bench_worker *worker) {
    if (kind == TURNS)
        take_turn(worker);
    else
        use_sizes(worker->state);
    sleep_while_it_settles(worker->index == 0);
}

int main(int argc, char **argv) {
    static const bench_spec spec = {
        .name = "sleepers",
        .summary = "Threads that free --slots blocks and sleep. Only the memory is of interest.",
        .operation = "one block allocated and freed",
        .config = &config,
        .uses = BENCH_USES_THREADS | BENCH_USES_SLOTS | BENCH_USES_SIZES,
        .options = options,
        .setup = setup,
        .prepare = prepare,
    };
    return bench_main(argc, argv, &spec);
}
