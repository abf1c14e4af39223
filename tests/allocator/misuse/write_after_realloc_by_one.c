/* Writes by the old pointer to a block that realloc made one byte larger. */
#include "misuse.h"

int main(void) {
    char *block = malloc(100), *old = launder(block);
    block = realloc(block, 101);
    old[10] ^= 1;
    free(block);
    return 0;
}
