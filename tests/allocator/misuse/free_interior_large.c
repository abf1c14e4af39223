/* Frees a pointer into a large block. */
#include "misuse.h"

int main(void) {
    char *block = malloc(10 << 20);
    free(launder(block + (3 << 20)));
    return 0;
}
