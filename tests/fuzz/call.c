#include "call.h"

#include <stdio.h>

static const char *const names[FUNCTIONS] = {
#define FUZZ_CALL(name, weight) #name,
#include "calls.def"
#undef FUZZ_CALL
};

enum { EXPONENTS = 28, MOST_DOUBLINGS = 10, MOST_AT_ONCE = 4 << 20 };

/* Sizes at which something ends. */
static const size_t edges[] = {0,
                               1,
                               15,
                               16,
                               17,
                               2047,
                               2048,
                               2049,
                               32767,
                               32768,
                               32769,
                               65535,
                               65536,
                               65537,
                               (1 << 20),
                               (2 << 20) - 1,
                               (2 << 20),
                               (2 << 20) + 1,
                               (8 << 20),
                               PTRDIFF_MAX,
                               (size_t)PTRDIFF_MAX + 1,
                               SIZE_MAX,
                               SIZE_MAX - 4095,
                               TOO_LARGE * 2};

/* Each power of two is as likely as the next one. */
static size_t size_from(unsigned mantissa, unsigned exponent) {
    if (exponent >= 256 - 64)
        return edges[exponent % (sizeof edges / sizeof *edges)];
    return (size_t)(((uint64_t)mantissa << (exponent % EXPONENTS)) >> 16);
}

static size_t alignment_from(unsigned extra) {
    if (extra >= 248)
        return (size_t)1 << (47 + extra % 16);
    return extra < 200 ? (size_t)1 << (extra % 25) : extra;
}

/* Large blocks do not come by the hundreds. */
static unsigned times_for(unsigned doublings, size_t size) {
    unsigned times = 1u << (doublings % MOST_DOUBLINGS);
    while (times > 1 && size > MOST_AT_ONCE / times)
        times /= 2;
    return times;
}

call call_from(const uint8_t *bytes) {
    size_t size = size_from(bytes[4] | (unsigned)bytes[5] << 8, bytes[6]);
    return (call){.function = (enum function)(bytes[0] % FUNCTIONS),
                  .thread = bytes[1] % THREADS,
                  .times = times_for(bytes[1] >> 4, size),
                  .slot = (bytes[2] | (unsigned)bytes[3] << 8) % SLOTS,
                  .size = size,
                  .alignment = alignment_from(bytes[7]),
                  .extra = bytes[7]};
}

void call_print(const call *c) {
    fprintf(stderr, "thread %u: %s x %u, slot %u, size %zu, alignment %zu\n", c->thread,
            names[c->function], c->times, c->slot, c->size, c->alignment);
}
