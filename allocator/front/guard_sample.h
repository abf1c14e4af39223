/* The sampled guard, as the options ask for it. */
#pragma once

/* Starts it when HAKMEM_GUARD_SAMPLE says so. At load, once, when the program's constructors may
 * have run already. */
void hak_trap_begin(void);
