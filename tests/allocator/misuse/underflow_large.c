/* Writes the byte in front of a large block. */
#include "misuse.h"

int main(void) {
    char *block = launder(highest_of_some(1 << 20));
    block[-1] ^= 1;
    free(block);
    return 0;
}
