/* Threads take turns: each frees what the one before it allocated, allocates as much, and sleeps.
 * What it freed belongs to a thread that sleeps by now, and serves the next ones all the same. No
 * purge epoch ends meanwhile, so nothing goes back to the system. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/random.h"
#include "../support/threads.h"

enum {
    THREADS = 12,
    EACH = 16 << 20, /* bytes */
    MOST_SIZE = 1024,
    MOST = EACH / (MOST_SIZE / 4), /* blocks of a turn: their mean size is twice that */
    LEFT_KIB = THREADS / 2 * (EACH >> 10),
    TURN_MS = 50 /* more than an owner is away before its blocks may come home */
};

static pthread_barrier_t turn_ends, all_end;
static void *blocks[MOST];
static size_t count;

static void free_all(void) {
    while (count != 0)
        free(blocks[--count]);
}

static void allocate(Random *random) {
    for (size_t bytes = 0, size; bytes < EACH; bytes += size) {
        size = 16 + random_below(random, MOST_SIZE - 16);
        CHECK(count < MOST);
        CHECK(blocks[count] = malloc(size));
        memset(blocks[count++], 1, size);
    }
}

static void *live(void *argument) {
    Random random = random_from(*(size_t *)argument);
    free_all();
    allocate(&random);
    pthread_barrier_wait(&turn_ends);
    pthread_barrier_wait(&all_end);
    return NULL;
}

static size_t turn_of(pthread_t *thread, size_t number) {
    *thread = thread_start(live, &number);
    pthread_barrier_wait(&turn_ends);
    sleep_ms(TURN_MS);
    return rss_kib();
}

int main(void) {
    static pthread_t threads[THREADS];
    hang_limit();
    if (nothing_is_taken())
        return SKIPPED;
    CHECK(pthread_barrier_init(&turn_ends, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&all_end, NULL, THREADS + 1) == 0);
    memset(blocks, 1, sizeof blocks);
    size_t before = rss_kib(), now = before;
    for (size_t i = 0; i < THREADS; i++) {
        now = turn_of(&threads[i], i + 1);
        CHECK_THAT(now <= before + LEFT_KIB, "%zu KiB, %zu after turn %zu", before, now, i + 1);
    }
    say("%zu KiB before, %zu after %d turns", before, now, THREADS);
    free_all();
    pthread_barrier_wait(&all_end);
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    return 0;
}
