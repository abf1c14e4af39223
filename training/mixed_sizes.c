/* A program with many kinds of objects: a few favourite sizes and some odd ones; most objects die
 * young, some live long. Time goes in ticks; a block waits for its last tick in a bucket. */
#include "common/training.h"

#include <stdlib.h>

enum { TICKS = 4096, FAVOURITES = 12, BORN_PER_TICK = 8 };

typedef struct object {
    struct object *next; /* in its bucket */
    uint32_t size;
    uint32_t tag; /* repeated in the last four bytes if they are apart */
} object;

typedef struct program {
    training_options options;
    uint64_t rng;
    uint32_t favourites[FAVOURITES];
    object *dies_at[TICKS];
    uint64_t checksum;
} program;

static uint32_t *tail_of(object *self) {
    return (uint32_t *)((char *)self + (self->size & ~3u) - sizeof(uint32_t));
}

static uint32_t draw_size(program *self) {
    if (training_below(&self->rng, 4) != 0)
        return self->favourites[training_below(&self->rng, FAVOURITES)];
    return (uint32_t)training_size(&self->rng, self->options.min_size, self->options.max_size);
}

static uint64_t draw_lifetime(program *self) {
    uint64_t kind = training_below(&self->rng, 100);
    uint64_t limit = kind < 70 ? 8 : kind < 95 ? 256 : TICKS - 1;
    return 1 + training_below(&self->rng, limit);
}

static void give_birth(program *self, uint64_t tick) {
    uint32_t size = draw_size(self);
    object *born = training_need(malloc(size));
    object **bucket = &self->dies_at[(tick + draw_lifetime(self)) % TICKS];
    *born = (object){*bucket, size, (uint32_t)training_random(&self->rng)};
    *tail_of(born) = born->tag;
    *bucket = born;
}

static void bury(program *self, object *dead) {
    if (*tail_of(dead) != dead->tag)
        training_fail("mixed_sizes: an object changed while it lived");
    self->checksum = self->checksum * 31 + (dead->tag ^ dead->size);
    free(dead);
}

static void bury_bucket(program *self, uint64_t tick) {
    object *dead = self->dies_at[tick % TICKS];
    self->dies_at[tick % TICKS] = NULL;
    while (dead) {
        object *next = dead->next;
        bury(self, dead);
        dead = next;
    }
}

int main(int argc, char **argv) {
    static program self = {
        .options = {.ops = 6000000, .seed = 1, .min_size = 16, .max_size = 4096}};
    training_parse(argc, argv, &self.options, "the birth and the death of one object");
    if (self.options.min_size < sizeof(object) + sizeof(uint32_t))
        self.options.min_size = sizeof(object) + sizeof(uint32_t);
    if (self.options.max_size < self.options.min_size)
        self.options.max_size = self.options.min_size;
    self.rng = training_seed(self.options.seed, 0);
    for (int i = 0; i < FAVOURITES; i++)
        self.favourites[i] =
            (uint32_t)training_size(&self.rng, self.options.min_size, self.options.max_size);
    uint64_t tick = 0;
    for (uint64_t born = 0; born < self.options.ops; tick++) {
        bury_bucket(&self, tick);
        for (int i = 0; i < BORN_PER_TICK && born < self.options.ops; i++, born++)
            give_birth(&self, tick);
    }
    for (uint64_t last = tick + TICKS; tick < last; tick++)
        bury_bucket(&self, tick);
    return training_done("mixed_sizes", self.options.ops, self.checksum);
}
