/* Contents that tell whose block this is and whether anybody wrote into it. */
#ifndef HAKMEM_TESTS_PATTERN_H
#define HAKMEM_TESTS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every byte of [block, block + size) depends on `seed` and its offset. */
void pattern_fill(void *block, size_t size, uint64_t seed);
bool pattern_holds(const void *block, size_t size, uint64_t seed);

/* The same for big blocks: both ends in full, one word in each KiB between. */
void pattern_mark(void *block, size_t size, uint64_t seed);
bool pattern_marked(const void *block, size_t size, uint64_t seed);

bool all_zero(const void *block, size_t size);

#ifdef __cplusplus
}
#endif
#endif
