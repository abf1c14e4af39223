/* Writes one byte behind a block of many system pages. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(50000));
    block[50000] ^= 1;
    free(block);
    return 0;
}
