/* Large structures of small blocks are built and torn down again and again, in random order and in
 * the order of their making, with other work between: deep magazines, packed and not, hand out each
 * block once and lose none. */
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../support/check.h"
#include "../support/invariants.h"
#include "../support/random.h"

enum { BLOCKS = 60000, ROUNDS = 12 };

static size_t *blocks[BLOCKS];

/* Each block says which one it is: one that is handed out twice is found out. */
static void build(size_t (*size_of)(size_t i)) {
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(size_of(i));
        CHECK(blocks[i]);
        *blocks[i] = i;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        CHECK_THAT(*blocks[i] == i, "block %zu says %zu", i, *blocks[i]);
}

static void tear_down(bool in_order) {
    if (!in_order)
        free_in_random_order((void **)blocks, BLOCKS);
    for (size_t i = 0; in_order && i < BLOCKS; i++)
        free(blocks[i]);
}

static size_t smallest(size_t i) {
    (void)i;
    return sizeof *blocks[0];
}

static size_t of_five_classes(size_t i) {
    return 20 + i % 5 * 16;
}

static size_t mostly_small(size_t i) {
    return i % 8 == 0 ? 2000 : 8;
}

int main(void) {
    for (int round = 0; round < ROUNDS; round++) {
        build(round % 3 == 0 ? of_five_classes : smallest);
        tear_down(round % 4 == 0);
        build(round % 3 == 1 ? mostly_small : of_five_classes);
        tear_down(round % 4 != 2);
        invariants_hold();
        if (round % 5 == 4)
            malloc_trim(0);
    }
    return 0;
}
