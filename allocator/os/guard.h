/* What the guard variant asks of the operating system, beyond os/os.h and under its preconditions.
 */
#ifndef HAK_OS_GUARD_H
#define HAK_OS_GUARD_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every access to the memory faults from now on, or no more. False: refused, and nothing happened.
 */
bool hak_os_protect(void *start, size_t size);
bool hak_os_unprotect(void *start, size_t size);

/* 64 bits that nobody can foresee. */
uint64_t hak_os_random(void);

/* Lets `explain` look at the address of each fault first; when it returns, the program ends as it
 * would have done without. Nothing happens where the program handles faults itself. */
void hak_os_watch_faults(void (*explain)(const void *address));

#endif
