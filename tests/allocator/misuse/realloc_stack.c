/* Grows a variable on the stack. */
#include "misuse.h"

int main(void) {
    char variable[64];
    return realloc(launder(variable), 1000) != NULL ? 0 : 2;
}
