/* Writes the 32 bytes in front of a small block. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(100));
    flip(block - 32, 32);
    free(block);
    return 0;
}
