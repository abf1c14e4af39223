/* Which suspects memory points to, and which of those that are left hold the others. */
#pragma once

#include "leaks/suspects.h"

/* What is found by each aligned word of the memory is reached, and waits. */
void hak_reach_from(uintptr_t start, size_t size);

/* Looks at all that waits, and at what that reaches. */
void hak_reach_on(void);

/* Says of all that were not reached whether they are direct. Returns how many were not. */
size_t hak_reach_split(void);

/* Calls `count` for each indirect suspect that this direct one holds, but for those that it was
 * called for already. */
void hak_reach_count(hak_suspect *direct, void (*count)(const hak_suspect *held, void *context),
                     void *context);
