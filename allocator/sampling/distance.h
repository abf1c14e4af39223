/* How far it is to the next sample. */
#pragma once

#include <stdint.h>

/* A random distance, exponential with `rate` as its mean: 0 to 2^62. So far that nothing is ever
 * due where the rate is 0. `seed`: the state of base/bits.h's random numbers. */
int64_t hak_distance(uint64_t *seed, uint64_t rate);
