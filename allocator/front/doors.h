/* The two doors behind malloc and free. docs/block-paths.md says where blocks come from and go to,
 * step by step, each with its file.
 *
 * Odd cases come through the same doors, because their magazine is empty and full: the first call
 * of a thread, sizes without a class, NULL, large blocks, foreign pointers, an armed or ended
 * thread. */
#pragma once

#include "base/types.h"

/* A block of at least `size` bytes (at most HAK_MEDIUM_MAX). NULL and errno = ENOMEM: out of
 * memory. Any thread. */
HAK_DOOR void *hak_refill(size_t size);

/* Where malloc goes with more than HAK_SMALL_MAX bytes: front/medium.c. */
HAK_HIDDEN void *hak_malloc_medium(size_t size);

/* A block of a cold class. NULL: out of memory, or no cold blocks are handed out just now. Any
 * thread. */
HAK_DOOR void *hak_refill_cold(unsigned cls);

/* Takes back what malloc returned; NULL is allowed. A pointer that no allocation returned ends
 * the program. errno is kept. Any thread; `heap` is the one where its free looked. */
HAK_DOOR void hak_retire(void *block, hak_heap *heap);
