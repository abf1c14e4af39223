/* Grows a large block that was freed. */
#include "misuse.h"

int main(void) {
    void *block = malloc(10 << 20);
    free(launder(block));
    return realloc(launder(block), 20 << 20) != NULL ? 0 : 2;
}
