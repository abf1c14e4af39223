/* Grows a pointer into a large block. */
#include "misuse.h"

int main(void) {
    char *block = malloc(10 << 20);
    return realloc(launder(block + 4096), 20 << 20) != NULL ? 0 : 2;
}
