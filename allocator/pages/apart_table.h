/* Which blocks lie apart (pages/apart.h), and how long they are. No function waits, or takes a
 * lock. */
#pragma once

#include "pages/apart.h"

/* True: an entry will be free for one more block, and the tables longer than all that are noted. */
bool hak_apart_expect_one(void);
/* The block did not come, or has gone. */
void hak_apart_expect_one_less(void);

/* Entries that are noted or expected, about. */
size_t hak_apart_expected(void);

/* Notes a block. Its entry was expected. */
void hak_apart_note(void *block, size_t size);

/* Returns its size; 0: it is not there, or another thread was quicker. */
size_t hak_apart_forget(const void *block);
