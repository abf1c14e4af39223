/* What the guard variant alone asks of the operating system. */
#ifndef HAK_OS_GUARD_H
#define HAK_OS_GUARD_H

#include <stdint.h>

/* 64 bits that nobody can foresee. */
uint64_t hak_os_random(void);

#endif
