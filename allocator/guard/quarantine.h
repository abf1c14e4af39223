/* Two places where blocks wait, each an array per class. A block that comes takes the place of one
 * that is drawn at random, so that neither what is handed out next nor what is used again next can
 * be foreseen. */
#ifndef HAK_GUARD_QUARANTINE_H
#define HAK_GUARD_QUARANTINE_H

#include "base/types.h"

#include <stdbool.h>

/* How much is kept back, by the policy. Before that: nothing. */
void hak_quarantine_set_up(void);

/* A block of the class instead of this one, which waits; NULL: it waits, and there is no other
 * yet. Classes of large sizes return the block itself. */
void *hak_shuffle(unsigned cls, void *block);

/* True when blocks of the class are kept back at all. */
bool hak_keeps(unsigned cls);

/* Keeps a freed block of a class that is kept back. Returns the one that must leave for it, or
 * NULL. */
void *hak_keep_back(unsigned cls, void *block);

/* Takes each block in quarantine out; those of which `stays` (NULL: of none) says true go back to
 * their place, the others, and those whose place was taken meanwhile, to `leave`. */
void hak_kept_each(bool (*stays)(unsigned cls, void *block),
                   void (*leave)(unsigned cls, void *block));

/* Blocks and bytes that wait now, those of large blocks apart. */
typedef struct hak_waiting {
    size_t blocks, bytes, large;
} hak_waiting;
hak_waiting hak_waiting_now(void);

#endif
