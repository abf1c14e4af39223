/* Asks how large a small block is that was freed. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1000));
    free(block);
    return malloc_usable_size(block) == 0;
}
