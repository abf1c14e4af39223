/* Frees a small block, another one and the first again, and then wants three: two of them would be
 * the same block. */
#include "misuse.h"

int main(void) {
    char *a = launder(malloc(64)), *b = launder(malloc(64));
    free(a);
    free(b);
    free(a);
    char *first = launder(malloc(64)), *second = launder(malloc(64)), *third = launder(malloc(64));
    return first == second || second == third;
}
