/* Writes one byte behind a block that the program never frees. */
#include "misuse.h"

int main(void) {
    allocate_neighbours(40);
    char *block = launder(neighbours[NEIGHBOURS / 2]);
    block[40] ^= 1;
    return 0;
}
