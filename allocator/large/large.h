/* Large blocks: whole pages, above HAK_MEDIUM_MAX bytes, aligned beyond a page, or zeroed. */
#pragma once

#include "base/types.h"

/* `size` bytes (1 .. PTRDIFF_MAX) aligned to `align` (a power of two) and to the page; all zero
 * when `zero`. NULL and errno = ENOMEM: out of memory. */
HAK_DOOR void *hak_large_allocate(size_t size, size_t align, bool zero);
/* The same for malloc, of any size above HAK_MEDIUM_MAX. */
HAK_DOOR void *hak_large_malloc(size_t size);
/* A block for a heap profile: `size` is at most HAK_MEDIUM_MAX and counted already. NULL: out of
 * memory. */
void *hak_large_sample(size_t size);

/* Frees a large block; any other pointer ends the program with its name. By the owner of the heap
 * (NULL: by a thread that has none). */
HAK_DOOR void hak_large_free(hak_heap *heap, void *block);

/* The owner looks at the clock and leaves the slow path: where `looks_left` has run out. */
HAK_DOOR void hak_large_look(hak_heap *heap);

/* Bytes in a large block. A pointer that is none ends the program, naming `function`. */
size_t hak_large_size(const void *block, const char *function);

/* Another size (above HAK_MEDIUM_MAX) for a large block: in place when the pages behind it are
 * free, else by moving its page tables or its bytes. NULL and errno = ENOMEM: nothing happened. */
HAK_DOOR void *hak_large_resize(void *block, size_t size);

/* Widens a large block to `size` bytes if the pages behind it are free. Returns the bytes that it
 * has then: fewer than `size` where nothing happened. */
HAK_COLD size_t hak_large_widen(void *block, size_t size);
