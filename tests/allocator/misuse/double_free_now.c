/* Frees a small block twice in a row. Noticed when the thread's cache is emptied. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(64);
    free(launder(neighbours[0]));
    free(launder(neighbours[0]));
    for (int i = 1; i < NEIGHBOURS; i++)
        free(neighbours[i]);
    return 0;
}
