/* Zeroed memory that costs what is touched of it; never given back. */
#ifndef PLACEMENT_ROOM_H
#define PLACEMENT_ROOM_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static inline void *room(size_t bytes) {
    void *it = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (it == MAP_FAILED) {
        perror("place: mmap");
        exit(1);
    }
    return it;
}

#endif
