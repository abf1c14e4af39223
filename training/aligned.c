/* Programs that ask for alignment: vectors for SIMD, cache lines, pages for direct I/O, and a few
 * large windows. Blocks are asked for in every way libc offers, some grow by realloc. */
#include "common/training.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE = 512 };

typedef struct block {
    unsigned char *bytes;
    size_t size;
} block;

/* Most are cache lines and vectors; pages are rare. */
static size_t draw_alignment(uint64_t *rng) {
    static const size_t alignments[] = {16, 32, 32, 64, 64, 64, 64, 128, 256, 4096};
    return alignments[training_below(rng, sizeof alignments / sizeof alignments[0])];
}

static void *ask(uint64_t *rng, size_t alignment, size_t size) {
    void *result = NULL;
    switch (training_below(rng, 3)) {
    case 0:
        return posix_memalign(&result, alignment, size) == 0 ? result : NULL;
    case 1:
        return memalign(alignment, size);
    default:
        return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    }
}

static unsigned char mark_of(size_t size) {
    return (unsigned char)(size * 7 + 1);
}

static void mark(block *self) {
    self->bytes[0] = self->bytes[self->size - 1] = mark_of(self->size);
}

static void check(const block *self) {
    if (self->bytes[0] != mark_of(self->size) || self->bytes[self->size - 1] != self->bytes[0])
        training_fail("aligned: a block changed while it lived");
    if (malloc_usable_size(self->bytes) < self->size)
        training_fail("aligned: a block is smaller than asked for");
}

static void replace(block *self, uint64_t *rng, uint64_t min_size, uint64_t max_size) {
    size_t alignment = draw_alignment(rng);
    free(self->bytes);
    self->size = (size_t)training_size(rng, min_size, max_size);
    self->bytes = training_need(ask(rng, alignment, self->size));
    if ((uintptr_t)self->bytes % alignment != 0)
        training_fail("aligned: a block is not aligned");
    mark(self);
}

static void grow(block *self) {
    size_t size = self->size + self->size / 2 + 1;
    self->bytes = training_need(realloc(self->bytes, size));
    if (self->bytes[0] != mark_of(self->size))
        training_fail("aligned: realloc lost the contents");
    self->size = size;
    mark(self);
}

int main(int argc, char **argv) {
    static block live[LIVE];
    training_options options = {.ops = 2000000, .seed = 1, .min_size = 16, .max_size = 65536};
    training_parse(argc, argv, &options, "one aligned block, or one realloc of such a block");
    uint64_t rng = training_seed(options.seed, 0), checksum = 0;
    for (uint64_t i = 0; i < options.ops; i++) {
        block *chosen = &live[training_below(&rng, LIVE)];
        if (chosen->bytes)
            check(chosen);
        if (chosen->bytes && chosen->size < options.max_size && training_below(&rng, 8) == 0)
            grow(chosen);
        else
            replace(chosen, &rng, options.min_size, options.max_size);
        checksum = checksum * 31 + chosen->size;
    }
    for (int i = 0; i < LIVE; i++)
        free(live[i].bytes);
    return training_done("aligned", options.ops, checksum);
}
