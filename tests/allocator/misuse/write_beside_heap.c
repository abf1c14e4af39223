/* Walks downward from a block, page by page, to the start of the memory that the allocator got from
 * the system, and writes what is there already. */
#include "misuse.h"

enum { SEGMENT = 2 << 20, STEP = 4096 };

int main(void) {
    volatile char *at = launder(malloc(64));
    for (at -= (uintptr_t)at % STEP; (uintptr_t)at % SEGMENT != 0; at -= STEP)
        *at = *at;
    *at = *at;
    return 0;
}
