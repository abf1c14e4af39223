/* Writes the byte in front of a block of some pages. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(50000));
    block[-1] ^= 1;
    free(block);
    return 0;
}
