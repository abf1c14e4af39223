/* A block that has the least room there is can shrink, but does not move: nothing would be won. The
 * first few blocks of a thread have more room. */
#include <malloc.h>
#include <stdlib.h>

#include "../support/check.h"

enum { BLOCKS = 100 };

int main(void) {
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        CHECK(blocks[i] = malloc(1));
    void *last = blocks[BLOCKS - 1];
    for (size_t size = malloc_usable_size(last); size > 0; size--)
        CHECK_THAT(realloc(last, size) == last, "to %zu", size);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return 0;
}
