/* The blocks of the guard that are in use, for who looks for leaks. */
#pragma once

#include "guard/record.h"

/* Whether call stacks are kept. */
extern HAK_HIDDEN _Atomic bool hak_alive_noted;

/* Keeps the caller's stack with a block that is about to be handed out. */
HAK_COLD void hak_alive_note(hak_place place);
