/* xorshift64*: the same sequence for the same seed on every machine. */
#ifndef HAKMEM_TESTS_RANDOM_H
#define HAKMEM_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint64_t state;
} Random;

static inline Random random_from(uint64_t seed) {
    Random random = {seed * 0x9E3779B97F4A7C15u + 0x1234567u};
    return random;
}

static inline uint64_t random_next(Random *random) {
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * 0x2545F4914F6CDD1Du;
}

/* Uniform in [0, limit); limit > 0. */
static inline size_t random_below(Random *random, size_t limit) {
    return (size_t)((random_next(random) >> 16) % limit);
}

/* A size in [0, 2^max_bits): each power of two equally likely, as programs ask. */
static inline size_t random_size(Random *random, unsigned max_bits) {
    size_t bits = 1 + random_below(random, max_bits);
    return random_below(random, (size_t)1 << bits);
}

/* Frees all of them in an order that is neither that of allocation nor its reverse. */
static inline void free_in_random_order(void **blocks, size_t count) {
    Random random = random_from(count);
    for (size_t left = count; left > 0; left--) {
        size_t i = random_below(&random, left);
        free(blocks[i]);
        blocks[i] = blocks[left - 1];
    }
}

#endif
