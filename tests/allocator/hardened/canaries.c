/* HAKMEM_CANARIES=1: whatever is written behind a block ends the program when the block comes back,
 * in whatever way it was made; and nothing else changes for a program that keeps to what it asked
 * for. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/threads.h"

enum { CANARY = 8, MOST = 65536 - CANARY }; /* longer blocks are large: they have none */

static const size_t sizes[] = {0,    1,    7,    8,    9,    24,    25,       40,  100,
                               2040, 2041, 2048, 2049, 9000, 40000, MOST - 1, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef void *(*maker)(size_t size);

static void *by_calloc(size_t size) {
    return calloc(1, size);
}
static void *by_memalign(size_t size) {
    return memalign(256, size);
}
static void *by_posix_memalign(size_t size) {
    void *block;
    return posix_memalign(&block, 32, size) == 0 ? block : NULL;
}
static void *by_realloc(size_t size) {
    return realloc(malloc(size / 3 + 1), size + 1);
}
static void *by_shrinking(size_t size) {
    return realloc(malloc(size + size / 9 + 1), size + 1);
}

/* ---- what ends the program ---- */

static void give_back(char *block, size_t way) {
    if (way == 0)
        free(block);
    else if (way == 1)
        block = realloc(block, 3000);
    else
        (void)malloc_usable_size(block);
}

/* In a child: whether it was ended. */
static int ends(maker make, size_t size, size_t at, size_t way) {
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        char *block = make(size);
        block[at] ^= 1;
        give_back(block, way);
        _exit(0);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void each_byte(maker make, size_t size, size_t first, const char *how) {
    for (size_t i = 0; i < CANARY; i++)
        CHECK_THAT(ends(make, size, first + i, i % 3), "%s: byte %zu of %zu", how, first + i, size);
    if (first > 0)
        CHECK_THAT(!ends(make, size, first - 1, 0), "%s: the last of %zu", how, size);
}

static void each_way(void) {
    for (size_t i = 0; i < SIZES; i++)
        each_byte(malloc, sizes[i], sizes[i], "malloc");
    for (size_t i = 1; i < SIZES - 1; i += 3) {
        each_byte(by_calloc, sizes[i], sizes[i], "calloc");
        each_byte(by_memalign, sizes[i], sizes[i], "memalign");
        each_byte(by_posix_memalign, sizes[i], sizes[i], "posix_memalign");
        each_byte(by_realloc, sizes[i], sizes[i] + 1, "realloc to more");
        each_byte(by_shrinking, sizes[i], sizes[i] + 1, "realloc to less");
    }
}

/* ---- what stays as it is ---- */

static void usable_is_what_was_asked_for(void) {
    for (size_t size = 0; size <= MOST; size = size < 3000 ? size + 1 : size * 17 / 16) {
        char *block = malloc(size);
        CHECK_THAT(malloc_usable_size(block) == size, "%zu", size);
        memset(block, 1, size);
        char *more = realloc(block, size + 1);
        CHECK_THAT(size == MOST || malloc_usable_size(more) == size + 1, "%zu and one", size);
        free(memset(more, 1, size + 1));
    }
}

static void alignment(void) {
    for (size_t align = 16; align <= 65536; align *= 2)
        for (size_t size = 0; size < 70000; size = size * 9 / 8 + 1) {
            char *block = memalign(align, size);
            CHECK_THAT((uintptr_t)block % align == 0, "%zu at %zu", size, align);
            CHECK_THAT(malloc_usable_size(block) >= size, "%zu at %zu", size, align);
            free(memset(block, 1, size));
        }
}

static void calloc_is_zero(void) {
    for (size_t size = 1; size < 70000; size = size * 5 / 4 + 1) {
        free(memset(malloc(size), 1, size));
        char *block = calloc(size, 1);
        for (size_t i = 0; i < size; i++)
            CHECK_THAT(block[i] == 0, "byte %zu of %zu", i, size);
        free(block);
    }
}

/* A free block shows no canary to whom it is given next. */
static void nothing_stays_behind(void) {
    for (size_t i = 0; i < SIZES; i++) {
        char *block = malloc(sizes[i]);
        uint64_t canary, left;
        memcpy(&canary, block + sizes[i], CANARY);
        uintptr_t address = (uintptr_t)block;
        free(block);
        /* By its number: what the compiler knows of the pointer ended with the free. */
        memcpy(&left, (char *)address + sizes[i], CANARY); // NOLINT(performance-no-int-to-ptr)
        CHECK_THAT(left != canary && (canary & 0xff) != 0, "%zu", sizes[i]);
    }
}

/* ---- threads ---- */

static pthread_key_t last;

/* Of the thread's rounds of destructors the last one comes after the end of its heap. */
static void in_last_round(void *round) {
    if ((uintptr_t)round > 1) {
        pthread_setspecific(last, (char *)round - 1);
        return;
    }
    for (size_t i = 0; i < SIZES; i++)
        CHECK_THAT(ends(malloc, sizes[i], sizes[i], i % 3), "without a heap: %zu", sizes[i]);
    free(malloc(65535));
}

static void *ended(void *unused) {
    free(malloc(10));
    pthread_setspecific(last, (void *)(uintptr_t)4);
    return unused;
}

static void *first_of_a_thread(void *unused) {
    CHECK(ends(malloc, 100, 100, 0));
    return unused;
}

static char *handed_over[SIZES];

static void *free_them(void *unused) {
    for (size_t i = 0; i < SIZES; i++)
        free(handed_over[i]);
    return unused;
}

static void threads(void) {
    CHECK(pthread_key_create(&last, in_last_round) == 0);
    thread_join(thread_start(first_of_a_thread, NULL));
    thread_join(thread_start(ended, NULL));
    for (size_t i = 0; i < SIZES; i++)
        handed_over[i] = malloc(sizes[i]);
    thread_join(thread_start(free_them, NULL));
}

int main(void) {
    each_way();
    usable_is_what_was_asked_for();
    alignment();
    calloc_is_zero();
    nothing_stays_behind();
    threads();
    return 0;
}
