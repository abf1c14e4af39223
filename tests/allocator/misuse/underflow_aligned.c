/* Writes the byte in front of a block that is aligned to a page. */
#include "misuse.h"

int main(void) {
    char *blocks[2] = {launder(memalign(4096, 5000)), launder(memalign(4096, 5000))};
    char *block = blocks[blocks[0] < blocks[1]];
    block[-1] ^= 1;
    free(block);
    return 0;
}
