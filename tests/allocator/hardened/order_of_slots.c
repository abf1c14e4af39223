/* Blocks of new slabs do not come in the order of their addresses: in production nearly all do.
 * That half of thousands follow each other by chance is beyond what any test will see. */
#include <stdint.h>
#include <stdlib.h>

#include "../support/check.h"

enum { BLOCKS = 4096, SIZE = 64 };

int main(void) {
    static char *blocks[BLOCKS];
    int in_order = 0;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(SIZE);
        CHECK(blocks[i] != NULL);
        in_order += i > 0 && (uintptr_t)blocks[i] == (uintptr_t)blocks[i - 1] + SIZE;
    }
    CHECK_THAT(in_order < BLOCKS / 2, "%d of %d blocks follow the one before", in_order, BLOCKS);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return 0;
}
