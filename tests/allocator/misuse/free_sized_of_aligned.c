/* Gives free_sized, which C23 has for malloc, calloc and realloc, a block of aligned_alloc. */
#include "by_name.h"
#include "misuse.h"

int main(void) {
    FREE_SIZED(launder(aligned_alloc(64, 128)), 128);
    return 0;
}
