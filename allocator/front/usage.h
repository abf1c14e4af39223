/* What is used, and whether it is sound. */
#pragma once

#include "base/types.h"
#include "include/hakmem.h"
#include "report/figures.h"

#include <stdio.h>

void hak_usage_of(hak_usage *usage, const hak_snapshot *snapshot);

/* Each of its fields by name. */
enum { HAK_USAGES = 7 };
void hak_usage_figures(const hak_usage *usage, hak_figure figures[HAK_USAGES]);

/* All of it, and more, as malloc_info does. */
void hak_usage_write_xml(const hak_snapshot *snapshot, FILE *stream);

/* True when the invariants hold for the segments and for the calling thread's slabs. */
bool hak_usage_is_valid(void);
