/* A library that is preloaded beside ours puts functions of its own in the place of libc's, as
 * libfaketime does with the clock and getpid. They may allocate: malloc and free call none of them,
 * and what the library tells of itself comes without them, too. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "../support/random.h"
#include "../support/threads.h"

enum { BLOCKS = 500, LARGEST = 40000, ROUNDS = 50000 / TEST_SHARE, THREADS = 2 };
static _Atomic int called;
static _Thread_local bool is_within;

static void allocate(void) {
    if (is_within)
        return;
    is_within = true;
    called++;
    for (size_t size = 1; size < LARGEST; size *= 2)
        free(malloc(size));
    is_within = false;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    allocate();
    return (int)syscall(SYS_clock_gettime, clock, now);
}

pid_t getpid(void) {
    allocate();
    return (pid_t)syscall(SYS_getpid);
}

typedef struct block {
    char *at;
    size_t size;
} block;

static void renew(block *b, size_t size) {
    CHECK(!b->at || pattern_marked(b->at, b->size, b->size));
    free(b->at);
    *b = (block){malloc(size), size};
    CHECK(b->at);
    pattern_mark(b->at, size, size);
}

/* What was freed waits to go back, so slow paths look whether it is time. */
static void *churn(void *seed) {
    block blocks[BLOCKS] = {0};
    Random random = random_from(*(const uint64_t *)seed);
    for (int i = 0; i < ROUNDS; i++)
        renew(&blocks[random_below(&random, BLOCKS)], 1 + random_below(&random, LARGEST));
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i].at);
    return NULL;
}

static void ask(void) {
    static char text[1 << 16];
    size_t (*json)(char *, size_t);
    *(void **)&json = dlsym(RTLD_DEFAULT, "hak_stats_json");
    CHECK(json && json(text, sizeof text) != 0);
}

int main(void) {
    uint64_t seeds[THREADS] = {1, 2};
    hang_limit();
    threads_run(THREADS, churn, seeds, sizeof *seeds);
    ask();
    CHECK_THAT(called == 0, "they were called %d times", called);
    return 0;
}
