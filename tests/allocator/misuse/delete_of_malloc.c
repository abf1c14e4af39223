/* Gives a block of malloc to operator delete. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    DELETE(launder(malloc(100)));
    return 0;
}
