/* A table of live blocks in which a random one is replaced by one of random size, again and again.
 *
 * Only malloc and free cost something in the loop: which slot and what size were drawn before the
 * clock started; the steps are walked in order (the processor fetches them ahead), the slot of a
 * later step is fetched ahead by hand (a large table is not cold), every slot is full from the
 * start (no branch on NULL). */
#ifndef BENCH_SLOTS_H
#define BENCH_SLOTS_H

#include "block.h"

typedef enum {
    SIZES_UNIFORM, /* every size is as likely as every other */
    SIZES_POWER,   /* probability falls as 1/size: every doubling is as likely as the next */
} slot_sizes;

typedef enum {
    TOUCH_EDGES, /* first and last byte */
    TOUCH_PAGES, /* a byte in every 4 KiB */
    TOUCH_ALL,   /* every byte; of the blocks that fill the table at first, too */
    TOUCH_CHECK, /* every byte, verified before the block is freed */
} slot_touch;

typedef struct slot_step {
    uint32_t slot;
    uint32_t size;
} slot_step;

typedef struct slot_table {
    void **blocks;
    uint32_t *block_sizes; /* for TOUCH_CHECK */
    slot_step *steps;
    uint64_t slots;
    uint64_t step_mask; /* their number is a power of two */
    uint64_t at;        /* next step */
} slot_table;

enum { SLOT_AHEAD = 16 };

/* Draws the steps and fills every slot. Sizes lie in [min_size, max_size]. */
slot_table *slot_table_new(const bench_config *config, slot_sizes sizes, uint64_t *rng);
/* The same, and writes every byte of what it fills the slots with. */
slot_table *slot_table_new_whole(const bench_config *config, slot_sizes sizes, uint64_t *rng);
void slot_table_free_blocks(slot_table *table, bool check);

/* The same as a hook, for workers whose state is a table and nothing else. */
void slot_table_finish(bench_worker *worker);

/* A size as drawn for the steps. */
uint64_t slot_draw_size(const bench_config *config, slot_sizes sizes, uint64_t *rng);

BENCH_INLINE void slot_put(slot_table *table, uint64_t slot, size_t size, slot_touch touch) {
    void *block = bench_malloc(size);
    if (touch == TOUCH_CHECK) {
        bench_fill(block, size, slot + size);
        table->block_sizes[slot] = (uint32_t)size;
    } else if (touch == TOUCH_PAGES) {
        bench_touch_pages(block, size);
    } else if (touch == TOUCH_ALL) {
        bench_touch_all(block, size);
    } else {
        bench_touch(block, size);
    }
    table->blocks[slot] = block;
}

BENCH_INLINE void slot_take(slot_table *table, uint64_t slot, slot_touch touch) {
    void *block = table->blocks[slot];
    if (touch == TOUCH_CHECK)
        bench_verify(block, table->block_sizes[slot], slot + table->block_sizes[slot]);
    free(block);
}

/* One operation: free a random block, allocate another in its place. */
BENCH_INLINE void slot_replace(slot_table *table, slot_touch touch) {
    uint64_t ahead = (table->at + SLOT_AHEAD) & table->step_mask;
    slot_step step = table->steps[table->at & table->step_mask];
    __builtin_prefetch(&table->blocks[table->steps[ahead].slot], 1);
    slot_take(table, step.slot, touch);
    slot_put(table, step.slot, step.size, touch);
    table->at++;
}

/* The whole loop, made for each way of touching. */
BENCH_INLINE void slot_replace_many(slot_table *table, uint64_t ops, slot_touch touch) {
    slot_table local = *table; /* the compiler may keep it in registers */
    for (uint64_t i = 0; i < ops; i++)
        slot_replace(&local, touch);
    table->at = local.at;
}

void slot_run(slot_table *table, uint64_t ops, slot_touch touch);

#endif
