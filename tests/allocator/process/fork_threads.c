/* fork in a program with busy threads, 200 rounds: the child allocates, frees and grows its
 * parent's blocks, starts a thread, forks again. A lock that was held by another thread at the
 * moment of the fork must not be held for ever in the child. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { WORKERS = 3, ROUNDS = 200, BLOCKS = 300 };

static atomic_bool finished;
static void *inherited[BLOCKS];
static size_t sizes[BLOCKS];

static void *allocate_all_the_time(void *argument) {
    Random random = random_from(*(const uint64_t *)argument);
    void *blocks[64] = {NULL};
    while (!atomic_load(&finished)) {
        size_t i = random_below(&random, 64);
        free(blocks[i]);
        blocks[i] = malloc(random_size(&random, i == 0 ? 21 : 14));
        CHECK(blocks[i]);
    }
    for (int i = 0; i < 64; i++)
        free(blocks[i]);
    return NULL;
}

static void fill_inheritance(uint64_t seed) {
    Random random = random_from(seed);
    for (int i = 0; i < BLOCKS; i++) {
        sizes[i] = random_size(&random, i % 40 ? 11 : 20);
        inherited[i] = malloc(sizes[i]);
        CHECK(inherited[i]);
        pattern_mark(inherited[i], sizes[i], seed + (uint64_t)i);
    }
}

static void use_inheritance(uint64_t seed) {
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_THAT(pattern_marked(inherited[i], sizes[i], seed + (uint64_t)i), "block %d", i);
        if (i % 5 == 0)
            inherited[i] = realloc(inherited[i], sizes[i] + 100);
        free(inherited[i]);
        inherited[i] = NULL;
    }
}

static void *allocate_a_little(void *unused) {
    for (size_t size = 1; size < 100000; size = size * 2 + 1)
        free(memset(malloc(size), 1, size));
    return unused;
}

static void grandchild(void) {
    pid_t child = fork();
    if (child == 0) {
        hang_limit();
        allocate_a_little(NULL);
        _exit(0);
    }
    child_must_succeed(child);
}

static void child(uint64_t seed) {
    hang_limit();
    use_inheritance(seed);
    allocate_a_little(NULL);
    thread_join(thread_start(allocate_a_little, NULL));
    if (seed % 4 == 0)
        grandchild();
    if (seed % 2)
        exit(0); /* atexit handlers and destructors run in the child, too */
    _exit(0);
}

int main(void) {
    uint64_t seeds[WORKERS] = {1, 2, 3};
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        workers[i] = thread_start(allocate_all_the_time, &seeds[i]);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        fill_inheritance(round);
        pid_t pid = fork();
        if (pid == 0)
            child(round);
        child_must_succeed(pid);
        use_inheritance(round);
    }
    atomic_store(&finished, true);
    for (int i = 0; i < WORKERS; i++)
        thread_join(workers[i]);
    return 0;
}
