/* A string without room for its terminating zero. */
#include "misuse.h"

#include <string.h>

int main(void) {
    char *block = launder(malloc(5));
    memcpy(block, "hello", sizeof "hello");
    free(block);
    return 0;
}
