/* Walks downward from a block, page by page, to the start of the memory that the allocator got from
 * the system, and writes what is there already. */
#include <stdio.h>

#include "misuse.h"

enum { STEP = 4096, WIDE = 1 << 20 };

/* The lowest address from which mappings follow each other up to `address`. Reserved memory that is
 * not in use yet, or a hole, comes before it. */
static uintptr_t start_of_memory(uintptr_t address) {
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t first = 0, from, to, last = 0;
    char access[5];
    while (maps && fscanf(maps, "%lx-%lx %4s%*[^\n]", &from, &to, access) == 3 && from <= address) {
        if (access[0] != 'r' && to - from > WIDE)
            first = to;
        else if (from != last)
            first = from;
        last = to;
    }
    return first;
}

int main(void) {
    uintptr_t block = (uintptr_t)launder(malloc(64)), start = start_of_memory(block);
    for (uintptr_t at = block - block % STEP; at >= start; at -= STEP) {
        volatile char *byte = (volatile char *)at;
        *byte = *byte;
    }
    return 0;
}
