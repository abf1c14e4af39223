/* Writes one byte behind a block that fills its size class: into its neighbour. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(64);
    char *block = launder(neighbours[NEIGHBOURS / 2]);
    block[64] ^= 1;
    free_neighbours();
    return 0;
}
