/* Into the quarantine, and back to the core. */
#pragma once

#include "guard/record.h"

/* Takes a block that the program has freed. */
void hak_keep(const hak_slab *run, void *start);

/* True, when a block in quarantine still holds its pattern; else the program ends. */
bool hak_stays(unsigned cls, void *start);

/* A block leaves the quarantine: its pattern is looked at, and the core gets it back. */
void hak_let_go(unsigned cls, void *start);
