/* Frees a small block again after many other frees, when it left the thread's cache long ago. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(64);
    void *block = launder(neighbours[NEIGHBOURS / 2]);
    free_neighbours();
    free(block);
    allocate_neighbours(64);
    free_neighbours();
    return 0;
}
