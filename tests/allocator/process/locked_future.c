/* After mlockall(MCL_CURRENT | MCL_FUTURE) the system backs each mapping as a whole. What the
 * allocator sets apart stays without memory until it is used, and what is freed goes back. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum {
    THREADS = 100,
    STACK = 64 << 10,
    EACH_KIB = 100, /* for a thread, beside its stack */
    BLOCKS = 100000,
    SIZE = 1000,
    LARGE_BLOCKS = 100,
    LARGE = 1 << 20,
    MOST_KIB = 8192, /* of 100 MiB that were freed */
    LOCKED_TOO = 24  /* MADV_DONTNEED_LOCKED */
};

static pthread_barrier_t all_there;
static void *blocks[BLOCKS];

static void *stay_a_while(void *unused) {
    void *block = malloc(100);
    CHECK(block);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    free(block);
    return unused;
}

static void threads_cost_what_they_use(void) {
    pthread_t threads[THREADS];
    pthread_attr_t small;
    CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, STACK) == 0);
    CHECK(pthread_barrier_init(&all_there, NULL, THREADS + 1) == 0);
    size_t before = rss_kib();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], &small, stay_a_while, NULL) == 0);
    pthread_barrier_wait(&all_there);
    size_t each = (rss_kib() - before) / THREADS;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    CHECK_THAT(each <= STACK / 1024 + EACH_KIB, "%zu KiB for each thread", each);
}

static void goes_back(size_t size, int count) {
    size_t before = rss_kib();
    for (int i = 0; i < count; i++) {
        blocks[i] = malloc(size);
        CHECK(blocks[i]);
        memset(blocks[i], 1, size);
    }
    size_t used = rss_kib();
    CHECK_THAT(used > before + size * (size_t)count / 2048, "only %zu KiB", used - before);
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    malloc_trim(0);
    CHECK_THAT(rss_kib() < before + MOST_KIB, "RSS %zu, %zu, %zu KiB", before, used, rss_kib());
}

int main(void) {
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    free(malloc(1));
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || madvise(page, 4096, LOCKED_TOO) != 0) {
        say("this process may not lock all memory, or the system takes none back that is locked");
        return SKIPPED;
    }
    threads_cost_what_they_use();
    goes_back(SIZE, BLOCKS);
    goes_back(LARGE, LARGE_BLOCKS);
    char *block = malloc(LARGE); /* and is locked again when it is used: it cannot be paged out */
    memset(block, 1, LARGE);
    CHECK(madvise(block - (size_t)block % 4096 + 4096, 4096, MADV_DONTNEED) != 0);
    free(block);
    return 0;
}
