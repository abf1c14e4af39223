/* Blocks of 1 GiB and more, from every function of the family: they keep what lies in them, lie as
 * they were asked to, read as zero, grow and shrink, belong to all threads and to a child; and what
 * the machine could never back is refused. Only their edges are used. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/random.h"
#include "../support/threads.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
enum { MANY = 150, THREADS = 4, STEPS = 300, MARKED = 4096 };

static void mark(char *block, size_t size, size_t tag) {
    memset(block, (int)(tag & 127) + 1, MARKED);
    block[size - 1] = (char)((tag & 127) + 1);
}

static bool is_marked(const char *block, size_t size, size_t tag) {
    char expected = (char)((tag & 127) + 1);
    for (size_t i = 0; i < MARKED; i++)
        if (block[i] != expected)
            return false;
    return block[size - 1] == expected;
}

/* A machine with less memory than this, or a limit, may refuse even these. */
static bool is_possible(void) {
    void *block = malloc(2 * GIB);
    free(block);
    return block != NULL;
}

static void each_function(void) {
    char *blocks[] = {
        malloc(GIB),           calloc(1, GIB + 1),       realloc(NULL, GIB + 5),
        memalign(64, GIB),     aligned_alloc(4096, GIB), reallocarray(NULL, 1024, MIB),
        memalign(8 * MIB, GIB)};
    size_t count = sizeof blocks / sizeof *blocks;
    CHECK(blocks[1] && blocks[1][0] == 0 && blocks[1][GIB] == 0);
    for (size_t i = 0; i < count; i++) {
        CHECK_THAT(blocks[i] && malloc_usable_size(blocks[i]) >= GIB, "function %zu", i);
        mark(blocks[i], GIB, i);
    }
    CHECK((uintptr_t)blocks[6] % (8 * MIB) == 0 && (uintptr_t)blocks[4] % 4096 == 0);
    for (size_t i = 0; i < count; i++) {
        CHECK(is_marked(blocks[i], GIB, i));
        free(blocks[i]);
    }
}

/* Coarser than any range: only addresses are needed for it, not memory. */
static void coarsely_aligned(void) {
    for (size_t align = GIB; align <= GIB << 12; align *= 16) {
        void *block = NULL;
        int error = posix_memalign(&block, align, 1);
        CHECK_THAT(error == 0 || error == ENOMEM, "error %d", error);
        CHECK((uintptr_t)block % align == 0);
        if (error == 0)
            *(char *)block = 1;
        free(block);
    }
}

static void grows_and_shrinks(void) {
    static const size_t sizes[] = {100 * MIB,      500 * MIB, GIB,      GIB + 1, GIB + 300 * MIB,
                                   2 * GIB - 5000, 40 * MIB,  10 * MIB, GIB,     70000};
    size_t size = 80 * MIB;
    char *block = malloc(size), *behind = malloc(size);
    CHECK(block && behind);
    mark(block, size, size);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *moved = realloc(block, sizes[i]);
        CHECK_THAT(moved, "%zu to %zu", size, sizes[i]);
        if (sizes[i] < size)
            moved[sizes[i] - 1] = (char)((size & 127) + 1);
        CHECK_THAT(is_marked(moved, sizes[i] < size ? sizes[i] : size, size), "%zu to %zu", size,
                   sizes[i]);
        block = moved;
        size = sizes[i];
        mark(block, size, size);
    }
    free(block);
    free(behind);
}

static void many_at_once(void) {
    static char *blocks[MANY];
    Random random = random_from(3);
    for (size_t i = 0; i < MANY; i++) {
        size_t size = GIB + random_below(&random, 100 * MIB);
        CHECK((blocks[i] = malloc(size)) != NULL);
        blocks[i][0] = (char)i;
        *(size_t *)(void *)&blocks[i][8] = size;
    }
    for (size_t i = 0; i < MANY; i++) {
        CHECK(blocks[i][0] == (char)i);
        CHECK(malloc_usable_size(blocks[i]) >= *(size_t *)(void *)&blocks[i][8]);
    }
    free_in_random_order((void **)blocks, MANY);
}

static void *take_and_give(void *number) {
    Random random = random_from(*(unsigned *)number + 1);
    size_t sizes[4] = {0};
    char *blocks[4] = {NULL};
    for (int i = 0; i < STEPS; i++) {
        size_t at = random_below(&random, 4), size = GIB + random_below(&random, GIB);
        CHECK(blocks[at] == NULL || is_marked(blocks[at], sizes[at], at));
        if (random_below(&random, 3) == 0) {
            CHECK((blocks[at] = realloc(blocks[at], size)) != NULL);
        } else {
            free(blocks[at]);
            CHECK((blocks[at] = malloc(size)) != NULL);
        }
        sizes[at] = size;
        mark(blocks[at], size, at);
    }
    for (size_t at = 0; at < 4; at++)
        free(blocks[at]);
    return NULL;
}

static void by_many_threads(void) {
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        numbers[i] = i;
    threads_run(THREADS, take_and_give, numbers, sizeof numbers[0]);
}

static void in_a_child(void) {
    char *block = malloc(GIB);
    CHECK(block);
    mark(block, GIB, 7);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(is_marked(block, GIB, 7));
        CHECK((block = realloc(block, 2 * GIB)) != NULL);
        CHECK(is_marked(block, GIB, 7));
        free(block);
        _exit(0);
    }
    child_must_succeed(child);
    CHECK(is_marked(block, GIB, 7));
    free(block);
}

static void is_counted(void) {
    size_t before = mallinfo2().hblkhd;
    char *block = malloc(GIB);
    CHECK(block && mallinfo2().hblkhd >= before + GIB);
    free(block);
    CHECK(mallinfo2().hblkhd < before + GIB);
}

/* Beyond what any machine has addresses for, by each function; errno and the block stay. */
static void refuses_too_much(void) {
    static const size_t sizes[] = {(size_t)1 << 47, (size_t)1 << 60, PTRDIFF_MAX - 5000};
    char *block = malloc(GIB);
    CHECK(block);
    mark(block, GIB, 9);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *aligned = NULL;
        errno = 0;
        CHECK(malloc(sizes[i]) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(calloc(sizes[i] / 16, 16) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(realloc(block, sizes[i]) == NULL && errno == ENOMEM && is_marked(block, GIB, 9));
        CHECK(posix_memalign(&aligned, 1 << 21, sizes[i]) == ENOMEM);
        CHECK(posix_memalign(&aligned, (size_t)1 << 62, 1) == ENOMEM);
    }
    free(block);
}

int main(void) {
    hang_limit();
    refuses_too_much();
    if (!is_possible())
        return SKIPPED;
    each_function();
    coarsely_aligned();
    grows_and_shrinks();
    many_at_once();
    by_many_threads();
    in_a_child();
    is_counted();
    return 0;
}
