/* A program of the fuzzer: calls of eight bytes each, and any eight bytes are a call.
 *
 *   | function | thread, times | slot (2) | size: mantissa (2) | exponent | alignment, count |
 *
 * A slot is a place for a block; calls with `times` go on with the slots behind theirs. A block
 * may be resized or freed by any thread, so threads hand blocks to each other all the time. */
#ifndef HAKMEM_FUZZ_CALL_H
#define HAKMEM_FUZZ_CALL_H

#include <stddef.h>
#include <stdint.h>

enum { THREADS = 4, SLOTS = 1024, MOST_CALLS = 512, CALL_BYTES = 8 };

enum function {
#define FUZZ_CALL(name, weight) DO_##name,
#include "calls.def"
#undef FUZZ_CALL
    FUNCTIONS
};

typedef struct call {
    enum function function;
    unsigned thread, times, slot;
    size_t size;      /* 0 .. 128 MiB, or one that nobody can have */
    size_t alignment; /* any number; most are powers of two */
    unsigned extra;   /* the byte that the alignment comes from */
} call;

/* `bytes`: CALL_BYTES of them. */
call call_from(const uint8_t *bytes);

/* Sizes and alignments from here on must be refused. */
#define TOO_LARGE ((size_t)1 << 46)

/* One line on stderr. */
void call_print(const call *c);

#endif
