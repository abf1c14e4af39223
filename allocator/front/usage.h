/* What is used, and whether it is sound. */
#pragma once

#include "base/types.h"
#include "include/hakmem.h"
#include "report/figures.h"

#include <stdio.h>

void hak_usage_of(hak_usage *usage, const hak_snapshot *snapshot);

/* All of it, and more, as malloc_info does. */
void hak_usage_write_xml(const hak_snapshot *snapshot, FILE *stream);

/* True when the invariants hold for the segments and for the calling thread's slabs. */
bool hak_usage_is_valid(void);
