/* The allocator behind the recorder: the next one that defines libc's names. */
#ifndef RECORDER_NEXT_H
#define RECORDER_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct next_allocator {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} next_allocator;

extern next_allocator recorder_next;

/* Fills recorder_next. Until it is filled, requests that the search itself makes are served from
 * a small arena by next_early_allocate; next_is_early tells whether a block is from there. */
void next_find(void);
void *next_early_allocate(size_t size);

enum { NEXT_EARLY_BYTES = 16 << 10 };
extern unsigned char next_early[NEXT_EARLY_BYTES];

static inline bool next_is_early(const void *block) {
    return (uintptr_t)block - (uintptr_t)next_early < NEXT_EARLY_BYTES;
}

#pragma GCC visibility pop

#endif
