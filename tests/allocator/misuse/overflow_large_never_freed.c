/* Writes one byte behind a large block that the program never frees. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1 << 20));
    block[1 << 20] ^= 1;
    return 0;
}
