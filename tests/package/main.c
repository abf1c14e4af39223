/* Prints the version if malloc is hakmem's: libc's block would be refused by name. */
#include <hakmem.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    void *volatile block = malloc(100);
    if (hak_malloc_usable_size(block) < 100 || !hak_validate())
        return 1;
    free(block);
    return puts(hak_version()) < 0;
}
