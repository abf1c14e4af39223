/* Reads from a large block after its free. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1 << 20));
    block[5000] = 0;
    free(block);
    return *(volatile char *)&block[5000];
}
