/* The two doors behind the hot path.
 *
 *   malloc -> magazine empty -> hak_refill:  remote chains of this heap
 *                                            free blocks of the heap's partial slabs
 *                                            a slab of an ended thread
 *                                            a new slab: pages of a segment, else of the system
 *   free   -> magazine full  -> hak_retire:  the older half goes back: to its slabs, or in chains
 * to the threads that own them; an empty slab's pages go back to their segment, and later to the
 * system
 *
 * Odd cases (first call of a thread, sizes without a class, NULL, foreign pointers, an armed or
 * ended thread) come through the same doors, because their magazine is empty and full. */
#ifndef HAK_FRONT_REFILL_H
#define HAK_FRONT_REFILL_H

#include "base/types.h"

/* A block of at least `size` bytes (at most HAK_MEDIUM_MAX). NULL and errno = ENOMEM: out of
 * memory. Any thread. */
HAK_DOOR void *hak_refill(size_t size);

/* A block of a cold class. NULL: out of memory, or no cold blocks are handed out just now. Any
 * thread. */
HAK_DOOR void *hak_refill_cold(unsigned cls);

/* Takes back what malloc returned; NULL is allowed. A pointer that no allocation returned ends
 * the program. errno is kept. Any thread. */
HAK_DOOR void hak_retire(void *block);

#endif
