/* A child frees what other threads of its parent had allocated and allocates as much: it uses their
 * memory again. So does its own child. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { THREADS = 4, BYTES = 25 << 20, LEAST = 16, MOST = 2000 };
enum { BLOCKS = BYTES / (LEAST + MOST) * 2 };

typedef struct {
    uint64_t seed;
    size_t count;
    void *blocks[BLOCKS];
} Share;

static Share shares[THREADS];
static pthread_barrier_t filled, over;

static void fill(Share *share) {
    Random random = random_from(share->seed);
    for (share->count = 0; share->count < BLOCKS; share->count++) {
        size_t size = LEAST + random_below(&random, MOST - LEAST);
        share->blocks[share->count] = malloc(size);
        CHECK(share->blocks[share->count]);
        memset(share->blocks[share->count], 1, size);
    }
}

static void *fill_and_wait(void *argument) {
    fill(argument);
    pthread_barrier_wait(&filled);
    pthread_barrier_wait(&over);
    return NULL;
}

static void free_all(void) {
    for (size_t i = 0; i < THREADS; i++)
        free_in_random_order(shares[i].blocks, shares[i].count);
}

static void fill_all(void) {
    for (size_t i = 0; i < THREADS; i++)
        fill(&shares[i]);
}

static void replace_all(size_t generation) {
    size_t before = rss_kib();
    free_all();
    fill_all();
    size_t after = rss_kib();
    CHECK_THAT(after <= before + before / 5, "generation %zu: %zu KiB before, %zu after",
               generation, before, after);
}

/* The child of each generation is the next one. */
static void child(size_t generation) {
    bool is_last = false;
    hang_limit();
    for (pid_t next = 0; next == 0 && !is_last; generation++) {
        replace_all(generation);
        is_last = generation == 3;
        next = is_last ? 0 : fork();
        if (next != 0)
            child_must_succeed(next);
    }
    free_all();
    _exit(0);
}

int main(void) {
    pthread_t threads[THREADS];
    hang_limit();
    pthread_barrier_init(&filled, NULL, THREADS + 1);
    pthread_barrier_init(&over, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++) {
        shares[i].seed = i + 1;
        threads[i] = thread_start(fill_and_wait, &shares[i]);
    }
    pthread_barrier_wait(&filled);
    pid_t pid = fork();
    if (pid == 0)
        child(1);
    child_must_succeed(pid);
    pthread_barrier_wait(&over);
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    free_all();
    return 0;
}
