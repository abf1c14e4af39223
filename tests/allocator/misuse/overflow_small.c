/* Writes one byte behind a block whose size is no multiple of anything. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(24));
    block[24] ^= 1;
    free(block);
    return 0;
}
