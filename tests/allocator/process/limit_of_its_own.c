/* A program that limits its own address space after the start, as python's resource.setrlimit does:
 * its mappings and threads, and blocks of all sizes, are served up to the limit. So what is merely
 * reserved must not count. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { LIMIT_MIB = 2048, MAPPED_MIB = 256, THREADS = 8, BLOCKS = 800, SIZE = 1 << 20 };

static void *allocate_some(void *unused) {
    void *block = malloc(SIZE);
    CHECK(block);
    free(block);
    return unused;
}

static void map_something(void) {
    size_t size = (size_t)MAPPED_MIB << 20;
    void *got = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_THAT(got != MAP_FAILED, "errno %d, VmSize %zu KiB", errno, status_kib("VmSize:"));
    CHECK(munmap(got, size) == 0);
}

static void start_threads(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(allocate_some, NULL);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
}

int main(void) {
    static void *blocks[BLOCKS];
    struct rlimit limit;
    free(malloc(1));
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = (rlim_t)LIMIT_MIB << 20;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    map_something();
    start_threads();
    for (int i = 0; i < BLOCKS; i++)
        CHECK_THAT(blocks[i] = malloc(SIZE), "block %d of %d bytes", i, SIZE);
    CHECK(!malloc((size_t)LIMIT_MIB << 20) && errno == ENOMEM);
    map_something();
    start_threads();
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return 0;
}
