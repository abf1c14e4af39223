/* Large blocks: whole pages, above HAK_MEDIUM_MAX bytes, aligned beyond a page, or zeroed. */
#ifndef HAK_LARGE_LARGE_H
#define HAK_LARGE_LARGE_H

#include "base/types.h"

/* `size` bytes (1 .. PTRDIFF_MAX) aligned to `align` (a power of two) and to the page; all zero
 * when `zero`. NULL and errno = ENOMEM: out of memory. */
HAK_DOOR void *hak_large_allocate(size_t size, size_t align, bool zero);

/* Frees a large block; any other pointer ends the program with its name. */
HAK_DOOR void hak_large_free(void *block);

/* Bytes in a large block. A pointer that is none ends the program, naming `function`. */
size_t hak_large_size(const void *block, const char *function);

/* Another size (above HAK_MEDIUM_MAX) for a large block: in place when the pages behind it are
 * free, else by moving its page tables or its bytes. NULL and errno = ENOMEM: nothing happened. */
HAK_DOOR void *hak_large_resize(void *block, size_t size);

#endif
