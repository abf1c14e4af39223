/* Frees a large block twice. */
#include "misuse.h"

int main(void) {
    void *block = malloc(10 << 20);
    free(launder(block));
    free(launder(block));
    return 0;
}
