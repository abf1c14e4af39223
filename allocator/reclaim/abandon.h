/* Heaps whose threads end: at their end, or later, when somebody finds that they are gone. */
#pragma once

#include "base/types.h"

/* A thread begins, and wants a heap. Any thread. */
void hak_abandon_note_begin(void);

/* Gives the heap away: the next thread that needs one obtains it. By the owner, on a slow path. */
void hak_abandon(hak_heap *heap);

/* Looks at so many heaps, in turn: those whose owner has ended without a word are given away. */
void hak_abandoned_find(void);
