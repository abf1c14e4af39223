/* At the hard limit allocations fail with ENOMEM, frees work, and memory that was freed can be had
 * again: for small, large and huge blocks, with threads, after fork, when the limit changes. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/memory.h"
#include "../support/threads.h"
#include "hakmem.h"

enum { MIB = 1 << 20, LIMIT_MIB = 64, MOST = 1 << 20, THREADS = 4, ROUNDS = 20 };

static __typeof__(&hak_policy_set) set;
static void **blocks;

/* Takes blocks until the library refuses; returns how many. */
static size_t fill(size_t size) {
    size_t count = 0;
    errno = 0;
    while (count < MOST && (blocks[count] = malloc(size)) != NULL)
        memset(blocks[count++], 1, size < 4096 ? size : 4096);
    CHECK_THAT(count < MOST && errno == ENOMEM, "%zu blocks of %zu bytes", count, size);
    return count;
}

static void empty(size_t count) {
    while (count > 0)
        free(blocks[--count]);
}

static bool holds(size_t count, size_t size, size_t least_percent) {
    size_t mib = count * size / MIB;
    return mib <= LIMIT_MIB && mib * 100 >= (size_t)LIMIT_MIB * least_percent;
}

/* The same number fits again, up to what lies in magazines and in slabs of other classes. */
static void sizes_come_and_go(void) {
    static const size_t sizes[] = {120, 1000, 5000, 60000, 125000, MIB, 10 * MIB, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t first = fill(sizes[i]);
        CHECK_THAT(holds(first, sizes[i], 70), "%zu blocks of %zu", first, sizes[i]);
        empty(first);
        size_t again = fill(sizes[i]);
        CHECK_THAT(again >= first - first / 8, "%zu, then %zu of %zu", first, again, sizes[i]);
        empty(again);
    }
}

/* For programs that end without a word when malloc returns NULL. */
static void refusals_are_told_once(char *program) {
    static char text[4096];
    CHECK(run_again((char *[]){program, "refused", NULL}, STDERR_FILENO, text, sizeof text) == 0);
    const char *told = strstr(text, ": HAKMEM_HARD_LIMIT is reached, 67108864 bytes: ");
    CHECK_THAT(told != NULL && strstr(told + 1, "hakmem:") == NULL, "%s", text);
    setenv("HAKMEM_QUIET", "1", 1);
    CHECK(run_again((char *[]){program, "refused", NULL}, STDERR_FILENO, text, sizeof text) == 0);
    CHECK_THAT(text[0] == '\0', "%s", text);
    unsetenv("HAKMEM_QUIET");
}

/* 10 for 10M: no page fits. */
static void a_forgotten_unit_is_told(char *program) {
    static char text[4096];
    setenv("HAKMEM_HARD_LIMIT", "10", 1);
    run_again((char *[]){program, "refused", NULL}, STDERR_FILENO, text, sizeof text);
    CHECK_THAT(strstr(text, "is reached, 10 bytes, which is less than one page (is"), "%s", text);
    setenv("HAKMEM_HARD_LIMIT", "64M", 1);
}

static void be_refused(void) {
    for (int i = 0; i < 3; i++)
        CHECK(!malloc((size_t)(LIMIT_MIB + 1) * MIB) && errno == ENOMEM);
}

static void be_refused_by_another_limit(void) {
    be_refused();
    CHECK(set("hard_limit", "32M") == 0);
    be_refused();
}

static void another_limit_is_told_anew(char *program) {
    static char text[4096];
    CHECK(run_again((char *[]){program, "changed", NULL}, STDERR_FILENO, text, sizeof text) == 0);
    const char *first = strstr(text, "is reached, 67108864 bytes: ");
    const char *then = first ? strstr(first, "is reached, 33554432 bytes: ") : NULL;
    CHECK_THAT(then != NULL && strstr(then, "hakmem:") == NULL, "%s", text);
}

static void too_much_at_once(void) {
    errno = 0;
    CHECK(!malloc((size_t)(LIMIT_MIB + 1) * MIB) && errno == ENOMEM);
    errno = 0;
    CHECK(!malloc((size_t)2048 * MIB) && errno == ENOMEM);
    errno = 0;
    CHECK(!calloc(LIMIT_MIB + 1, MIB) && errno == ENOMEM);
    CHECK(posix_memalign(&blocks[0], 4096, (size_t)(LIMIT_MIB + 1) * MIB) == ENOMEM);
    char *block = malloc((size_t)LIMIT_MIB / 4 * MIB);
    CHECK(block);
    block[0] = 7;
    errno = 0;
    CHECK(!realloc(block, (size_t)LIMIT_MIB * 2 * MIB) && errno == ENOMEM && block[0] == 7);
    free(block);
}

static _Atomic bool ended;

static void *churn(void *unused) {
    void *own[64] = {0};
    for (int round = 0; round < ROUNDS || !ended; round++)
        for (size_t i = 0; i < 64; i++) {
            free(own[i]);
            own[i] = malloc((size_t)1 << (10 + (i + (size_t)round) % 8));
            if (own[i])
                memset(own[i], 1, 1024);
        }
    for (size_t i = 0; i < 64; i++)
        free(own[i]);
    return unused;
}

static void threads_and_children_at_the_limit(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) /* what a thread needs of libc is allocated, too */
        threads[i] = thread_start(churn, NULL);
    size_t held = fill(100000);
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            free(malloc(1000));
            empty(held);
            _exit(malloc(LIMIT_MIB / 4 * MIB) != NULL ? 0 : 1);
        }
        child_must_succeed(child);
    }
    empty(held);
    ended = true;
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    malloc_trim(0);
    size_t after = fill(100000);
    CHECK_THAT(after >= held - held / 8, "%zu, then %zu", held, after);
    empty(after);
}

static void the_limit_changes(void) {
    size_t before = fill(100000);
    CHECK(set("hard_limit", "128M") == 0);
    void *more = malloc(16 * MIB);
    CHECK(more);
    CHECK(set("hard_limit", "32M") == 0);
    CHECK(!malloc(MIB)); /* more is in use than may be */
    free(more);
    empty(before);
    CHECK(set("hard_limit", "0") == 0);
    more = malloc((size_t)4 * LIMIT_MIB * MIB);
    CHECK(more);
    free(more);
}

/* Above the soft limit nothing waits: what is freed is back at once, although the delay is long. */
static void soft_limit_gives_back(void) {
    CHECK(set("hard_limit", "0") == 0 && set("soft_limit", "8M") == 0);
    size_t empty_kib = rss_kib(), count = 200;
    for (size_t i = 0; i < count; i++)
        CHECK(blocks[i] = memset(malloc(MIB / 2), 1, MIB / 2));
    size_t full_kib = rss_kib();
    empty(count);
    CHECK_THAT(rss_kib() < empty_kib + 16 * 1024, "%zu KiB, %zu when full, %zu at first", rss_kib(),
               full_kib, empty_kib);
}

int main(int count, char **arguments) {
    hang_limit();
    if (count == 1) {
        setenv("HAKMEM_HARD_LIMIT", "64M", 1);
        setenv("HAKMEM_PURGE_DELAY", "3000000", 1);
        execl(arguments[0], arguments[0], "limited", NULL);
    }
    set = (__typeof__(set))dlsym(RTLD_DEFAULT, "hak_policy_set");
    if (strcmp(arguments[1], "refused") == 0) {
        be_refused();
        return 0;
    }
    if (strcmp(arguments[1], "changed") == 0) {
        be_refused_by_another_limit();
        return 0;
    }
    refusals_are_told_once(arguments[0]);
    a_forgotten_unit_is_told(arguments[0]);
    another_limit_is_told_anew(arguments[0]);
    blocks = mmap(NULL, MOST * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    CHECK(set && blocks != MAP_FAILED);
    too_much_at_once();
    sizes_come_and_go();
    threads_and_children_at_the_limit();
    the_limit_changes();
    soft_limit_gives_back();
    return 0;
}
