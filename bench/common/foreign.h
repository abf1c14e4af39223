/* Code that is not the allocator's: 512 different functions of about half a KiB each, which do
 * nothing but fill the instruction cache, as the rest of a real program does between two calls of
 * malloc. They touch no memory. */
#ifndef BENCH_FOREIGN_H
#define BENCH_FOREIGN_H

#include <stdint.h>

enum { FOREIGN_FUNCTIONS = 512, FOREIGN_BYTES = 512 };

typedef uint64_t foreign_function(uint64_t value);

extern foreign_function *const bench_foreign[FOREIGN_FUNCTIONS];

#endif
