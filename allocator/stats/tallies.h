/* What was counted in heaps whose memory has gone back to the system: research builds. */
#pragma once

#include "base/tally.h"

/* Adds what a heap has counted, one tally for each class, before its memory goes. */
void hak_tallies_keep(const hak_tally *tallies);

/* What all heaps that went have counted of the class. One that goes just now may be missing. */
hak_tally hak_tallies_kept(unsigned cls);
