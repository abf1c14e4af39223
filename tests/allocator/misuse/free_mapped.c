/* Frees memory that the program mapped itself. */
#include "misuse.h"

int main(void) {
    void *own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    free(launder(own));
    return 0;
}
