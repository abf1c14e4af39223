/* Uses the old pointer to a block that realloc has moved. */
#include "misuse.h"

int main(void) {
    char *block = malloc(100), *old = launder(block);
    block = realloc(block, 5000);
    old[10] ^= 1;
    free(block);
    return 0;
}
