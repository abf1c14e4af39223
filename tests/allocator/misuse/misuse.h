/* What the programs of this folder share. Each does one wrong thing and should not come to its end:
 * returning from main means that nothing was noticed. Pointers pass through `launder`, so that the
 * compiler can neither warn nor make use of what it knows. */
#ifndef HAKMEM_TESTS_MISUSE_H
#define HAKMEM_TESTS_MISUSE_H

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { NEIGHBOURS = 6000 };
static void *neighbours[NEIGHBOURS];

static inline void *launder(const void *pointer) {
    void *volatile hidden = (void *)(uintptr_t)pointer;
    return hidden;
}

/* Changes each byte, whatever it was. */
static inline void flip(char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        bytes[i] ^= 1;
}

/* Many live blocks of one size; freeing them later empties every cache in front of the page. */
static inline void allocate_neighbours(size_t size) {
    for (int i = 0; i < NEIGHBOURS; i++)
        neighbours[i] = malloc(size);
}

/* Of eight blocks the one with the highest address: what lies in front of it is a block, in use or
 * not, and nothing of the allocator. */
static inline void *highest_of_some(size_t size) {
    uintptr_t highest = 0;
    for (int i = 0; i < 8; i++) {
        uintptr_t block = (uintptr_t)malloc(size);
        highest = block > highest ? block : highest;
    }
    return (void *)highest; // NOLINT(performance-no-int-to-ptr)
}

static inline void free_neighbours(void) {
    for (int i = 0; i < NEIGHBOURS; i++)
        free(neighbours[i]);
}

#endif
