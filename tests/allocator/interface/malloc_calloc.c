/* malloc, calloc and free: zero sizes, limits, overflow, errno. */
#include <errno.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/pattern.h"
#include "limits.h"

static void zero_sizes_give_distinct_blocks(void) {
    void *first = malloc(0);
    void *second = malloc(0);
    void *third = calloc(0, 8);
    void *fourth = calloc(8, 0);
    CHECK(first && second && third && fourth);
    CHECK(first != second && second != third && third != fourth && first != fourth);
    free(first);
    free(second);
    free(third);
    free(fourth);
}

static void impossible_sizes_are_refused(void) {
    for (int i = 0; i < IMPOSSIBLE_COUNT; i++) {
        size_t size = impossible_sizes[i];
        errno = 0;
        CHECK_THAT(malloc(size) == NULL, "malloc(%zx)", size);
        CHECK_THAT(errno == ENOMEM, "malloc(%zx): errno %d", size, errno);
        errno = 0;
        CHECK_THAT(calloc(1, size) == NULL, "calloc(1, %zx)", size);
        CHECK_THAT(errno == ENOMEM, "calloc(1, %zx): errno %d", size, errno);
        errno = 0;
        CHECK_THAT(calloc(size, 1) == NULL, "calloc(%zx, 1)", size);
        CHECK_THAT(errno == ENOMEM, "calloc(%zx, 1): errno %d", size, errno);
    }
}

static void overflowing_products_are_refused(void) {
    static const volatile size_t pairs[][2] = {
        {SIZE_MAX, SIZE_MAX},
        {SIZE_MAX / 2 + 2, 2},
        {2, SIZE_MAX / 2 + 2},
        {(size_t)1 << 32, (size_t)1 << 32},
        {((size_t)1 << 32) + 1, (size_t)1 << 32},
        {SIZE_MAX / 16 + 2, 16},
        {3, SIZE_MAX / 3 + 1},
        {SIZE_MAX / 64 + 2, 64},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        errno = 0;
        CHECK_THAT(calloc(pairs[i][0], pairs[i][1]) == NULL, "pair %zu", i);
        CHECK_THAT(errno == ENOMEM, "pair %zu: errno %d", i, errno);
    }
}

static void success_and_free_leave_errno_alone(void) {
    for (size_t size = 0; size <= (size_t)64 << 20; size = size * 3 + 1) {
        errno = EXDEV;
        void *block = malloc(size);
        CHECK(block);
        CHECK_THAT(errno == EXDEV, "malloc(%zu) set errno %d", size, errno);
        free(block);
        CHECK_THAT(errno == EXDEV, "free of %zu set errno %d", size, errno);
    }
    free(NULL);
    CHECK(errno == EXDEV);
}

static void calloc_gives_zeroed_arrays(void) {
    for (size_t count = 1; count < 2000; count += 7) {
        unsigned char *block = calloc(count, 24);
        CHECK(block);
        CHECK_THAT(all_zero(block, count * 24), "calloc(%zu, 24)", count);
        pattern_fill(block, count * 24, count);
        free(block);
    }
}

int main(void) {
    zero_sizes_give_distinct_blocks();
    impossible_sizes_are_refused();
    overflowing_products_are_refused();
    success_and_free_leave_errno_alone();
    calloc_gives_zeroed_arrays();
    return 0;
}
