/* Frees a pointer into a middle-sized block. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(5000);
    free(launder((char *)neighbours[0] + 1024));
    free_neighbours();
    return 0;
}
