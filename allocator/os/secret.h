/* A number that differs from process to process, for what must not be foreseen. */
#ifndef HAK_OS_SECRET_H
#define HAK_OS_SECRET_H

#include "base/attributes.h"

#include <stdint.h>

/* 0 until it is chosen; a forked child has that of its parent. */
extern HAK_HIDDEN uintptr_t hak_secret;

/* Chooses it, if it is not yet. One thread at a time; no system call where the kernel gave the
 * process random bytes at its start. */
void hak_secret_choose(void);

#endif
