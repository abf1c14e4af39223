/* Frees a small block again after one other: both times it goes back to its slab with the same few
 * blocks. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(64);
    void *block = launder(neighbours[0]);
    free(block);
    free(neighbours[1]);
    free(block);
    for (int i = 2; i < NEIGHBOURS; i++)
        free(neighbours[i]);
    return 0;
}
