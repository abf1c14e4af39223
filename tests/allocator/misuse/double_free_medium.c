/* Frees a middle-sized block twice. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(8000);
    free(launder(neighbours[1]));
    free(launder(neighbours[1]));
    for (int i = 2; i < NEIGHBOURS; i++)
        free(neighbours[i]);
    return 0;
}
