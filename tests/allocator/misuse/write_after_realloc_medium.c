/* Writes by the old pointer to a block of some pages that realloc made one byte smaller. */
#include "misuse.h"

int main(void) {
    char *block = malloc(50000), *old = launder(block);
    block = realloc(block, 49999);
    old[10] ^= 1;
    free(block);
    return 0;
}
