/* Two places where blocks wait, each an array per class. A block that comes takes the place of one
 * that is drawn at random, so that neither what is handed out next nor what is used again next can
 * be foreseen. */
#pragma once

#include "guard/record.h"

/* How much is kept back, by the policy. Before that: nothing. */
void hak_quarantine_set_up(void);

/* A block of the class instead of this one, which waits; NULL: it waits, and there is no other
 * yet. Classes of large sizes return the block itself. */
void *hak_shuffle(unsigned cls, void *block);

/* Takes a block that the program has freed, into the quarantine or back to the core. */
void hak_keep(const hak_slab *run, void *start);

/* Looks at all blocks in quarantine: the program ends where one does not hold its pattern any more.
 * They stay where no other block has taken their place; with `leave` none does. */
void hak_kept_look(bool leave);

/* Blocks of a class that wait now, in either place; bytes of the large ones. */
size_t hak_waiting_of(unsigned cls);
size_t hak_waiting_large_bytes(void);
