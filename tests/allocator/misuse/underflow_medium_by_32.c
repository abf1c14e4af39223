/* Writes the 32 bytes in front of a block of some pages. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(50000));
    flip(block - 32, 32);
    free(block);
    return 0;
}
