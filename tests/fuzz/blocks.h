/* The model: which blocks the program has, and what must be in them. */
#ifndef HAKMEM_FUZZ_BLOCKS_H
#define HAKMEM_FUZZ_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"

typedef struct block {
    char *start;         /* NULL: none */
    size_t size, usable; /* asked for; had */
    size_t alignment;    /* that it was asked with; 0: by malloc and its like */
    uint64_t seed;       /* of its contents */
} block;

extern block blocks[SLOTS];

/* Bytes that the program has; what would be beyond `most` is refused before it is asked for. */
bool block_fits(size_t size);

/* For the calling thread alone until block_release. */
block *block_take(unsigned slot);
void block_release(const block *b);
bool block_is_taken(const block *b);

/* The allocator returned it: it must be usable, aligned, beside all others. Fills it. */
void block_begins(block *b, void *start, size_t size, size_t alignment);
/* It is about to be freed or resized: nobody wrote into it. */
void block_check(const block *b);
void block_ends(block *b);
/* What it was moved to holds the first `size` bytes of it. */
void block_check_copy(const block *b, const char *copy, size_t size);

bool is_zero(const char *start, size_t size);

#endif
