/* Frees a pointer into a small block. Production notices when it empties the thread's cache. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(256);
    free(launder((char *)neighbours[0] + 16));
    free_neighbours();
    return 0;
}
