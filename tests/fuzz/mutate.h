/* Changing programs call by call. */
#ifndef HAKMEM_FUZZ_MUTATE_H
#define HAKMEM_FUZZ_MUTATE_H

#include "../allocator/support/random.h"
#include "call.h"

/* Changes the program in its place; returns its new size, at most `most`. */
size_t program_mutate(Random *random, uint8_t *bytes, size_t size, size_t most);
/* The beginning of one program and the end of another. */
size_t program_cross(Random *random, const uint8_t *a, size_t size_a, const uint8_t *b,
                     size_t size_b, uint8_t *out, size_t most);
/* A new one. */
size_t program_invent(Random *random, uint8_t *bytes, size_t most);

#endif
