/* Makes a small block a little larger, by an address inside it. */
#include "misuse.h"

int main(void) {
    char *block = launder(malloc(1000));
    return launder(realloc(block + 16, 1001)) == NULL;
}
