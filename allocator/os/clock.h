/* The system's clocks, past libc's clock_gettime: programs put their own in its place, as
 * libfaketime does, and that may allocate, in the middle of our work. */
#pragma once

#include <time.h>

/* Zero where the system has no such clock. */
struct timespec hak_os_clock(clockid_t clock);
