/* Writes the 32 bytes in front of a small block. */
#include "misuse.h"

#include <string.h>

int main(void) {
    char *block = launder(highest_of_some(100));
    memset(block - 32, 1, 32);
    free(block);
    return 0;
}
