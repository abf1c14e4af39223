/* realloc and reallocarray: NULL, zero, limits, overflow; a refused request keeps the block. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "limits.h"

static const size_t block_sizes[] = {1, 24, 500, 2000, 5000, 40000, 300000, 5 << 20};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof *block_sizes };

static void *patterned(size_t size) {
    void *block = malloc(size);
    CHECK(block);
    pattern_fill(block, size, size);
    return block;
}

static void null_means_malloc(void) {
    void *block = realloc(NULL, 100);
    CHECK(block && malloc_usable_size(block) >= 100);
    void *empty = realloc(NULL, 0);
    CHECK(empty && empty != block);
    void *array = reallocarray(NULL, 10, 10);
    CHECK(array && malloc_usable_size(array) >= 100);
    free(block);
    free(empty);
    free(array);
}

/* glibc frees the block, answers NULL and leaves errno as it was. */
static void zero_means_free(void) {
    for (int i = 0; i < BLOCK_SIZES; i++) {
        errno = EXDEV;
        CHECK(realloc(patterned(block_sizes[i]), 0) == NULL);
        CHECK_THAT(errno == EXDEV, "size %zu: errno %d", block_sizes[i], errno);
        CHECK(reallocarray(patterned(block_sizes[i]), 0, 8) == NULL);
        CHECK(reallocarray(patterned(block_sizes[i]), 8, 0) == NULL);
    }
    /* 4 GiB in all: a block that is not freed shows up as a failure or in the test of RSS. */
    for (int i = 0; i < 1000; i++)
        CHECK(realloc(malloc(4 << 20), 0) == NULL);
}

static void refused_requests_keep_the_block(void) {
    for (int i = 0; i < BLOCK_SIZES; i++) {
        size_t size = block_sizes[i];
        void *block = patterned(size);
        for (int j = 0; j < IMPOSSIBLE_COUNT; j++) {
            errno = 0;
            CHECK_THAT(realloc(block, impossible_sizes[j]) == NULL, "%zx", impossible_sizes[j]);
            CHECK(errno == ENOMEM);
        }
        static const volatile size_t half = SIZE_MAX / 2 + 2;
        errno = 0;
        CHECK(reallocarray(block, half, 2) == NULL);
        CHECK(errno == ENOMEM);
        errno = 0;
        CHECK(reallocarray(block, 3, half) == NULL);
        CHECK(errno == ENOMEM);
        CHECK_THAT(pattern_holds(block, size, size), "size %zu", size);
        free(block);
    }
}

static void success_leaves_errno_alone(void) {
    void *block = NULL;
    for (size_t size = 1; size <= (size_t)32 << 20; size = size * 2 + 3) {
        errno = EXDEV;
        block = realloc(block, size);
        CHECK(block);
        CHECK_THAT(errno == EXDEV, "realloc to %zu set errno %d", size, errno);
    }
    free(block);
}

int main(void) {
    null_means_malloc();
    zero_means_free();
    refused_requests_keep_the_block();
    success_leaves_errno_alone();
    return 0;
}
