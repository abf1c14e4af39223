/* Frees a small block twice in a row. Noticed at once: it is the block freed last. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(64);
    free(launder(neighbours[0]));
    free(launder(neighbours[0]));
    for (int i = 1; i < NEIGHBOURS; i++)
        free(neighbours[i]);
    return 0;
}
