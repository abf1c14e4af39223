/* Canaries: bytes on both sides of a block that must not change. Those of one block have one value,
 * which is another one in each process and for each block, and never 0, which is what programs most
 * often write too far. The two that touch the block have another value, which is not 0 either: so
 * no run of one value that a program writes too far can be taken for the canary.
 *
 *   from              block          behind              end
 *   | c  c  c  c  c'  | n bytes ...  | c'  c  c  c  c  c |     any of the three may be empty
 */
#pragma once

#include "base/attributes.h"

#include <stddef.h>

typedef struct hak_fenced {
    char *from, *block, *behind, *end;
} hak_fenced;

void hak_canary_put(hak_fenced f);

/* Offset of the first byte that is not `value`; `size` when all are. At the speed of memory. */
size_t hak_first_other(const void *start, int value, size_t size);

/* The first byte that was written to; `end` when none was. */
char *hak_canary_damage(hak_fenced f);

/* The same of memory that another thread may take access to meanwhile: what cannot be read counts
 * as whole. By system calls. */
char *hak_canary_peek_damage(hak_fenced f);
