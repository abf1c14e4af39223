/* Bytes that must not change: runs of one value, compared at the speed of memory. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Offset of the first byte that is not `value`; `size` when all are. */
static inline size_t hak_first_other(const void *start, int value, size_t size) {
    const unsigned char *bytes = start;
    if (size == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0))
        return size;
    size_t i = 0;
    while (bytes[i] == value)
        i++;
    return i;
}
