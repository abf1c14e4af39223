/* Writes the 32 bytes in front of a large block. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(1 << 20));
    flip(block - 32, 32);
    free(block);
    return 0;
}
