/* Many threads free each other's blocks, and sleep. What lies in their magazines is of each other's
 * slabs: so while the first of these heaps are trimmed, blocks come back to those that were. All
 * goes back by itself, while any thread allocates. */
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { THREADS = 48, BLOCKS = 9600, STEP = 48, SLACK_KIB = 16 * 1024 };

static pthread_barrier_t allocated, freed, looked_at;
static void *blocks[THREADS][BLOCKS];

/* Of each thread one in THREADS, of all sizes. */
static void free_of_all(size_t number) {
    for (size_t i = 0; i < BLOCKS; i++)
        free(blocks[(number + i) % THREADS][(i / THREADS * THREADS + number) % BLOCKS]);
}

static void *live(void *argument) {
    size_t number = (size_t)((void *(*)[BLOCKS])argument - blocks);
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = 16 + i / THREADS % 10 * STEP;
        CHECK(blocks[number][i] = malloc(size));
        memset(blocks[number][i], 1, size);
    }
    pthread_barrier_wait(&allocated);
    free_of_all(number);
    pthread_barrier_wait(&freed);
    pthread_barrier_wait(&looked_at);
    return NULL;
}

int main(void) {
    static pthread_t threads[THREADS];
    hang_limit();
    if (nothing_is_taken())
        return SKIPPED;
    CHECK(pthread_barrier_init(&allocated, NULL, THREADS) == 0);
    CHECK(pthread_barrier_init(&freed, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&looked_at, NULL, THREADS + 1) == 0);
    memset(blocks, 0, sizeof blocks);
    size_t at_start = rss_kib();
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(live, blocks[i]);
    pthread_barrier_wait(&freed);
    goes_back_by_itself(at_start + SLACK_KIB);
    pthread_barrier_wait(&looked_at);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    return 0;
}
