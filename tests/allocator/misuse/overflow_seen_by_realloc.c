/* Writes one byte behind a block and lets it grow. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(100));
    block[100] ^= 1;
    free(realloc(block, 3000));
    return 0;
}
