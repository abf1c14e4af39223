/* Threads whose end the library does not notice leave no heap behind: they allocate for the first
 * time in the last rounds of their keys' destructors, or end by the system call alone. */
#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"

enum { WARM = 50, THREADS = 2000, GROWTH_KIB = 1024, SIZE = 100, FIRST_ROUND = 3 };

static pthread_key_t key;

/* The value says which round it is. POSIX promises four. */
static void destroy(void *value) {
    uintptr_t round = (uintptr_t)value;
    if (round >= FIRST_ROUND) {
        void *block = malloc(SIZE);
        CHECK(block);
        memset(block, 1, SIZE);
        free(block);
    }
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, (void *)(round + 1));
}

static void *allocate_late(void *unused) {
    pthread_setspecific(key, (void *)(uintptr_t)1);
    return unused;
}

static void *end_by_system_call(void *unused) {
    free(malloc(SIZE));
    syscall(SYS_exit, 0);
    return unused;
}

static void run(void *(*body)(void *), unsigned count) {
    for (unsigned i = 0; i < count; i++)
        thread_join(thread_start(body, NULL));
}

static void leave_nothing(const char *which, void *(*body)(void *)) {
    run(body, WARM);
    size_t before = rss_kib();
    run(body, THREADS);
    size_t after = rss_kib();
    say("%s: RSS %zu -> %zu KiB", which, before, after);
    CHECK_THAT(after <= before + GROWTH_KIB, "%s: RSS %zu -> %zu KiB", which, before, after);
}

int main(void) {
    hang_limit();
    if (nothing_is_taken())
        return SKIPPED;
    CHECK(pthread_key_create(&key, destroy) == 0);
    leave_nothing("allocated late", allocate_late);
    leave_nothing("ended by the system call", end_by_system_call);
    return 0;
}
