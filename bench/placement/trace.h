/* A trace of a program's heap: what it reads and writes, and its blocks.
 *
 *   recorder.so, preloaded into the program:  tells tracer.so of each malloc and free
 *   tracer.so, a plugin of qemu-x86_64:       writes words: those, and each load and store
 *   place:                                    reads words, says what each placement would miss
 *
 * A word is a kind (4 bits), a number of bytes (12 bits) and an address (48 bits). An allocation
 * has three words more: its size, the caller's address, a digest of the four callers. */
#ifndef PLACEMENT_TRACE_H
#define PLACEMENT_TRACE_H

#include <stdint.h>

enum { TRACE_ACCESS = 1, TRACE_ALLOCATE = 2, TRACE_FREE = 3 };
enum { TRACE_FRAMES = 4 };

/* The recorder speaks by system calls that no kernel has: they do nothing, and the plugin sees
 * their arguments. */
enum {
    TELL_ALLOCATED = 99001, /* block, size, where the caller's return address lies */
    TELL_FREED = 99002,     /* block */
    TELL_IGNORE = 99003,    /* first and last address of code that is no part of the program */
    TELL_SILENCE = 99004,   /* a forked child: no more of it */
};

#define TRACE_ADDRESS_MASK ((1ull << 48) - 1)

static inline uint64_t trace_word(unsigned kind, unsigned bytes, uint64_t address) {
    return (uint64_t)kind << 60 | (uint64_t)(bytes & 4095) << 48 | (address & TRACE_ADDRESS_MASK);
}

static inline unsigned trace_kind(uint64_t word) {
    return (unsigned)(word >> 60);
}

static inline unsigned trace_bytes(uint64_t word) {
    return (unsigned)(word >> 48) & 4095;
}

static inline uint64_t trace_address(uint64_t word) {
    return word & TRACE_ADDRESS_MASK;
}

#endif
