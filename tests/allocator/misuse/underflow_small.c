/* Writes the byte in front of a small block that has no neighbour in use there. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(100));
    block[-1] ^= 1;
    free(block);
    return 0;
}
