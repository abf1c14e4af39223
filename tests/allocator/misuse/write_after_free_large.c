/* Writes to a large block after its free. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1 << 20));
    block[5000] = 1;
    free(block);
    block[5000] = 2;
    return 0;
}
