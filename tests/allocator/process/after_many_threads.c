/* Thousands of threads at once, then none: what their heaps held goes back, and so do the heaps.
 * Each thread uses some sizes and leaves one block in sixteen to the main thread, which frees them
 * when all threads have ended. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { MOST = 5000, LEAST = 50, AT_FIRST = 16, BLOCKS = 32, LEFT_EVERY = 16, STACK = 32768 };
enum { BYTES_EACH = 1024, SLACK_KIB = 1024 };

static pthread_barrier_t all_are_here;
static void *left[MOST][BLOCKS / LEFT_EVERY];

static void *live(void *argument) {
    void **place = argument, *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(20 + i * i * 3);
        CHECK_THAT(blocks[i], "no block of %zu bytes: errno %d", 20 + i * i * 3, errno);
        memset(blocks[i], 1, 20 + i * i * 3);
    }
    pthread_barrier_wait(&all_are_here);
    for (size_t i = 0; i < BLOCKS; i++)
        if (i % LEFT_EVERY == 0)
            *place++ = blocks[i];
        else
            free(blocks[i]);
    return NULL;
}

/* The stacks are ours: libc would keep many of them. */
static unsigned run(unsigned most) {
    static pthread_t threads[MOST];
    pthread_attr_t attributes;
    unsigned count = 0;
    char *stacks = mmap(NULL, (size_t)most * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(stacks != MAP_FAILED);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_barrier_init(&all_are_here, NULL, most) == 0);
    for (; count < most; count++) {
        CHECK(pthread_attr_setstack(&attributes, stacks + (size_t)count * STACK, STACK) == 0);
        if (pthread_create(&threads[count], &attributes, live, left[count]) != 0)
            break;
    }
    if (count < most) {
        say("the system grants %u threads of %u", count, most);
        _Exit(SKIPPED);
    }
    for (unsigned i = 0; i < count; i++)
        thread_join(threads[i]);
    CHECK(munmap(stacks, (size_t)most * STACK) == 0);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < BLOCKS / LEFT_EVERY; j++)
            free(left[i][j]);
    return count;
}

/* Half of what the user may have, and no more than a machine with little memory bears. */
static unsigned threads_here(void) {
    struct rlimit limit;
    unsigned most = MOST;
    CHECK(getrlimit(RLIMIT_NPROC, &limit) == 0);
    if (limit.rlim_cur / 2 < most)
        most = (unsigned)(limit.rlim_cur / 2);
    return most > LEAST ? most : LEAST;
}

int main(void) {
    run(AT_FIRST);
    malloc_trim(0);
    size_t before = rss_kib(), count = run(threads_here()), then = rss_kib();
    malloc_trim(0);
    size_t after = rss_kib(), allowed = before + SLACK_KIB + count * BYTES_EACH / 1024;
    say("%zu threads: RSS %zu, %zu, %zu KiB after malloc_trim", count, before, then, after);
    CHECK_THAT(after <= allowed, "%zu KiB, allowed are %zu", after, allowed);
    return 0;
}
