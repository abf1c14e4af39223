/* Frees a variable on the stack. */
#include "misuse.h"

int main(void) {
    char variable[64];
    free(launder(variable));
    return 0;
}
