/* Random numbers of a thread: quick, and not to be foreseen from outside. */
#pragma once

#include <stdint.h>

/* A number from 0 to below - 1; 1 <= below. */
uint32_t hak_random_below(uint32_t below);
