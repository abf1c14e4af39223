/* Gives free_sized another size than malloc. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    FREE_SIZED(launder(malloc(100)), 101);
    return 0;
}
