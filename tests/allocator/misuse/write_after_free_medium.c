/* Writes to a block of many system pages after its free. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(50000));
    free(block);
    block[30000] ^= 1;
    return 0;
}
