/* Walks over the page tables: what is used, and whether it is sound. */
#ifndef HAK_FRONT_USAGE_H
#define HAK_FRONT_USAGE_H

#include "base/types.h"
#include "include/hakmem.h"

void hak_usage_collect(hak_usage *usage);

/* True when the invariants hold for the segments and for the calling thread's slabs. */
bool hak_usage_is_valid(void);

#endif
