/* How fast memory goes back to the system when a program has freed much and goes on a little. */
#ifndef BENCH_SETTLE_H
#define BENCH_SETTLE_H

#include <stdint.h>

/* Lives on for `milliseconds` with a little allocation, and adds to the results the resident
 * memory at once and after 100, 500, 1000, 2000 and 5000 of them (rss_after_0ms_kib, ...). */
void bench_settle(uint64_t milliseconds);

#endif
