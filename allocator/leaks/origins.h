/* Origins: the call stacks that blocks were asked for by, each kept once and known by a number. No
 * lock: a forked child finds them whole.
 *
 *   slots    | number |   |   | number | ...     by the stack's hash
 *   stacks   | none | stack 1 | stack 2 | ...    as far as there are some */
#pragma once

#include "sampling/stack.h"

enum { HAK_ORIGINS = 65536 }; /* numbers; 0 stands for a stack that is not known */

/* Maps the tables, once. False: out of memory. */
bool hak_origins_open(void);

/* The number of the caller's stack; 0: it has none, or there are too many. errno is kept. */
uint32_t hak_origin_here(void);

/* The stack of a number, NULL for 0. */
const hak_stack *hak_origin_stack(uint32_t number);
