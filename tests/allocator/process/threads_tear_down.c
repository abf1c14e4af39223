/* Threads that free much memory together, a while after it was allocated: one of them gives memory
 * back while the others go on, and none of them does anything afterwards. First threads that stay,
 * then threads that end and had used many sizes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum {
    FEW = 8,
    SIZE = 256,
    EACH = 20 << 20,     /* bytes, of each of few threads */
    MANY = 256,          /* threads, ... */
    SIZES = 128,         /* ... each of which has a block of each of these sizes ... */
    STEP = 64,           /* ... from one to the next */
    LEFT_KIB = 48 << 10, /* half of this may wait for the purge */
    WARM_MS = 1500       /* three purge delays */
};

static pthread_barrier_t turn;

static void *fills_and_frees(void *unused) {
    (void)unused;
    void **last = NULL;
    for (size_t i = 0; i < EACH / SIZE; i++) {
        void **block = malloc(SIZE);
        CHECK(block);
        *block = (void *)last;
        last = block;
    }
    pthread_barrier_wait(&turn); /* all is there */
    pthread_barrier_wait(&turn); /* measured, a while later */
    for (void **next; last != NULL; last = next) {
        next = *last;
        free((void *)last);
    }
    pthread_barrier_wait(&turn); /* all is freed, and all threads are there */
    pthread_barrier_wait(&turn);
    return NULL;
}

static void *frees_and_ends(void *unused) {
    (void)unused;
    void *blocks[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        blocks[i] = malloc((i + 1) * STEP);
        CHECK(blocks[i]);
        memset(blocks[i], 1, (i + 1) * STEP);
    }
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    for (size_t i = 0; i < SIZES; i++)
        free(blocks[i]);
    return NULL;
}

static size_t start(pthread_t *threads, unsigned count, void *(*body)(void *)) {
    size_t before = rss_kib();
    CHECK(pthread_barrier_init(&turn, NULL, count + 1) == 0);
    for (unsigned i = 0; i < count; i++)
        threads[i] = thread_start(body, NULL);
    pthread_barrier_wait(&turn);
    CHECK_THAT(rss_kib() > before + 2 * (size_t)LEFT_KIB, "%zu KiB, then %zu", before, rss_kib());
    sleep_ms(WARM_MS);
    pthread_barrier_wait(&turn);
    return before;
}

static void is_gone(size_t before) {
    size_t after = rss_kib();
    CHECK_THAT(after <= before + LEFT_KIB, "%zu KiB before, %zu after", before, after);
}

int main(void) {
    static pthread_t threads[MANY];
    hang_limit();
    size_t before = start(threads, FEW, fills_and_frees);
    pthread_barrier_wait(&turn);
    is_gone(before);
    pthread_barrier_wait(&turn);
    for (unsigned i = 0; i < FEW; i++)
        thread_join(threads[i]);
    sleep_ms(WARM_MS); /* between two teardowns that have nothing to do with each other */
    before = start(threads, MANY, frees_and_ends);
    for (unsigned i = 0; i < MANY; i++)
        thread_join(threads[i]);
    is_gone(before);
    return 0;
}
