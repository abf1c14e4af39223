/* Resizes a small block that was freed. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1000));
    free(block);
    return launder(realloc(block, 990)) == NULL;
}
