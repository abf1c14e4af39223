/* What a program does with a block between malloc and free: as little as a real program must. */
#ifndef BENCH_BLOCK_H
#define BENCH_BLOCK_H

#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* The first and the last byte: the block is really there, and no more of it becomes warm. */
BENCH_INLINE void bench_touch(void *block, size_t size) {
    volatile unsigned char *bytes = block;
    bytes[0] = 1;
    bytes[size - 1] = 1;
}

/* One byte of every 4 KiB, for large buffers that their owner fills. */
BENCH_INLINE void bench_touch_pages(void *block, size_t size) {
    volatile unsigned char *bytes = block;
    for (size_t at = 0; at < size; at += 4096)
        bytes[at] = 1;
    bytes[size - 1] = 1;
}

/* Every byte, for large buffers that their owner fills and reads as a whole. */
BENCH_INLINE void bench_touch_all(void *block, size_t size) {
    memset(block, 1, size);
    __asm__ volatile("" : : "r"(block) : "memory");
}

/* The compiler may drop a malloc whose block nobody looks at; this is somebody. */
BENCH_INLINE void *bench_kept(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

BENCH_INLINE void *bench_malloc(size_t size) {
    void *block = bench_kept(malloc(size));
    if (bench_unlikely(block == NULL))
        bench_fail("malloc(%zu) failed", size);
    return block;
}

/* --check: fill a block with a pattern of its own, and find out whether it is still there. */
void bench_fill(void *block, size_t size, uint64_t tag);
void bench_verify(const void *block, size_t size, uint64_t tag);
void bench_verify_zero(const void *block, size_t size);

#endif
