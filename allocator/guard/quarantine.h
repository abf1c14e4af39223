/* Two places where blocks wait, each an array per class. A block that comes takes the place of one
 * that is drawn at random, so that neither what is handed out next nor what is used again next can
 * be foreseen. */
#pragma once

#include "base/types.h"

/* How much is kept back, by the policy. Before that: nothing. */
void hak_quarantine_set_up(void);

/* A block of the class instead of this one, which waits; NULL: it waits, and there is no other
 * yet. Classes of large sizes return the block itself. */
void *hak_shuffle(unsigned cls, void *block);

bool hak_keeps(unsigned cls);

/* Keeps a freed block of a class that is kept back. Returns the one that must leave for it, or
 * NULL. */
void *hak_keep_back(unsigned cls, void *block);

/* Takes each block in quarantine out; those of which `stays` (NULL: of none) says true go back to
 * their place, the others, and those whose place was taken meanwhile, to `leave`. */
void hak_kept_each(bool (*stays)(unsigned cls, void *block),
                   void (*leave)(unsigned cls, void *block));

/* Blocks of a class that wait now, in either place; bytes of the large ones. */
size_t hak_waiting_of(unsigned cls);
size_t hak_waiting_large_bytes(void);
