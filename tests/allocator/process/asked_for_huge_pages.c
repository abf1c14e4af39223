/* A program may ask the system for huge pages in its large blocks, as NumPy does. Then few faults
 * make all of a block resident; it is used as a whole all the same, and the next one finds its
 * pages. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../support/check.h"
#include "../support/memory.h"

enum { ROUNDS = 20, MIB = 1 << 20, SIZE = 24 * MIB, PAGE = 4096 };

static char *first_page(char *block) {
    return block + (PAGE - (uintptr_t)block % PAGE) % PAGE;
}

/* True when most of a new block is resident before it is used. */
static bool use_one(void) {
    char *block = malloc(SIZE);
    CHECK(block);
    bool was_resident = resident_bytes(first_page(block), SIZE - PAGE) > SIZE / 2;
    madvise(first_page(block), SIZE - PAGE, MADV_HUGEPAGE); /* a kernel without them refuses */
    for (size_t at = 0; at < SIZE; at += 1024)
        ((volatile char *)block)[at] = 1;
    free(block);
    return was_resident;
}

int main(void) {
    int resident = 0;
    for (int i = 0; i < ROUNDS; i++)
        resident += use_one();
    CHECK_THAT(resident > ROUNDS / 2 || calls_are_filtered(), "in %d of %d rounds", resident,
               ROUNDS);
    return 0;
}
