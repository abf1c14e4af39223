/* Frees a small block again after many other frees. A thread may keep both in its cache for a
 * while; it is noticed at the latest when they go back to their slab. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(64);
    void *block = launder(neighbours[NEIGHBOURS / 2]);
    free_neighbours();
    free(block);
    malloc_trim(0);
    return 0;
}
