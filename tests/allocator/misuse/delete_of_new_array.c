/* Gives a block of operator new[] to operator delete. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    DELETE(launder(NEW_ARRAY(100)));
    return 0;
}
