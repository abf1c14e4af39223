/* Gives a block of operator new to free. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    free(launder(NEW(100)));
    return 0;
}
