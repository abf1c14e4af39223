#include "slots.h"

/* Enough steps that no branch predictor learns them, and enough to visit every slot; at most
 * 16 MiB of them. */
static uint64_t number_of_steps(uint64_t slots) {
    uint64_t steps = 1u << 16;
    while (steps < 2 * slots && steps < 1u << 21)
        steps *= 2;
    return steps;
}

/* 2^(random exponent): an integer doubling, then uniform inside it; no libm. */
static uint64_t draw_power(uint64_t low, uint64_t high, uint64_t *rng) {
    uint64_t doublings = 0;
    while ((low << (doublings + 1)) <= high)
        doublings++;
    uint64_t from = low << bench_random_in(rng, 0, doublings > 0 ? doublings - 1 : 0);
    uint64_t to = doublings > 0 ? 2 * from - 1 : high;
    return bench_random_in(rng, from, to > high ? high : to);
}

uint64_t slot_draw_size(const bench_config *config, slot_sizes sizes, uint64_t *rng) {
    if (sizes == SIZES_POWER)
        return draw_power(config->min_size, config->max_size, rng);
    return bench_random_in(rng, config->min_size, config->max_size);
}

static slot_table *make(const bench_config *config, slot_sizes sizes, slot_touch touch,
                        uint64_t *rng) {
    slot_table *table = bench_table(sizeof *table);
    uint64_t steps = number_of_steps(config->slots);
    table->slots = config->slots;
    table->step_mask = steps - 1;
    table->steps = bench_table(steps * sizeof *table->steps);
    table->blocks = bench_table(table->slots * sizeof *table->blocks);
    if (config->check)
        table->block_sizes = bench_table(table->slots * sizeof *table->block_sizes);
    for (uint64_t i = 0; i < steps; i++)
        table->steps[i] = (slot_step){(uint32_t)bench_random_in(rng, 0, table->slots - 1),
                                      (uint32_t)slot_draw_size(config, sizes, rng)};
    for (uint64_t slot = 0; slot < table->slots; slot++)
        slot_put(table, slot, slot_draw_size(config, sizes, rng),
                 config->check ? TOUCH_CHECK : touch);
    return table;
}

slot_table *slot_table_new(const bench_config *config, slot_sizes sizes, uint64_t *rng) {
    return make(config, sizes, TOUCH_EDGES, rng);
}

slot_table *slot_table_new_whole(const bench_config *config, slot_sizes sizes, uint64_t *rng) {
    return make(config, sizes, TOUCH_ALL, rng);
}

void slot_table_free_blocks(slot_table *table, bool check) {
    for (uint64_t slot = 0; slot < table->slots; slot++)
        slot_take(table, slot, check ? TOUCH_CHECK : TOUCH_EDGES);
}

void slot_table_finish(bench_worker *worker) {
    slot_table_free_blocks(worker->state, worker->config->check);
}

void slot_run(slot_table *table, uint64_t ops, slot_touch touch) {
    switch (touch) {
    case TOUCH_EDGES:
        slot_replace_many(table, ops, TOUCH_EDGES);
        break;
    case TOUCH_PAGES:
        slot_replace_many(table, ops, TOUCH_PAGES);
        break;
    case TOUCH_ALL:
        slot_replace_many(table, ops, TOUCH_ALL);
        break;
    case TOUCH_CHECK:
        slot_replace_many(table, ops, TOUCH_CHECK);
        break;
    }
}
