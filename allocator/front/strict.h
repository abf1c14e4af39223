/* Hardened builds: what their options ask of free, by one question on its hot path. In other builds
 * nothing of it is there. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>

/* An option asks for something. Set once, at load. */
extern HAK_HIDDEN bool hak_is_strict;

/* Reads the options. */
void hak_strict_begin(void);

/* As free, with what the options ask for. */
HAK_DOOR void hak_free_strictly(void *block);
