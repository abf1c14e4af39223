/* What the guard variant alone asks of the operating system. */
#pragma once

#include <stdint.h>

/* 64 bits that nobody can foresee. */
uint64_t hak_os_random(void);
