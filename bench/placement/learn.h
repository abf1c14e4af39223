/* What a trace teaches of its sites: which are used together, which are hot. */
#ifndef PLACEMENT_LEARN_H
#define PLACEMENT_LEARN_H

#include <stdio.h>

#include "blocks.h"

void learn_block(const block *it);
void learn_access(const block *it);
void learn_write(FILE *to);

#endif
