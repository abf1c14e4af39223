/* Sizes that no allocator can serve. volatile: the compiler must not judge them. */
#ifndef HAKMEM_TESTS_LIMITS_H
#define HAKMEM_TESTS_LIMITS_H

#include <stddef.h>
#include <stdint.h>

static const volatile size_t impossible_sizes[] = {
    (size_t)1 << 48, /* what a field of 48 bits takes for little */
    ((size_t)1 << 48) + 100,
    ((size_t)1 << 60) + 8,
    PTRDIFF_MAX,
    (size_t)PTRDIFF_MAX + 1,
    (size_t)PTRDIFF_MAX + 4097,
    SIZE_MAX - 64 * 1024,
    SIZE_MAX - 2 * 1024 * 1024,
    SIZE_MAX - 4096,
    SIZE_MAX - 4095,
    SIZE_MAX - 16,
    SIZE_MAX - 15,
    SIZE_MAX - 1,
    SIZE_MAX,
};

enum { IMPOSSIBLE_COUNT = sizeof impossible_sizes / sizeof *impossible_sizes };

#endif
