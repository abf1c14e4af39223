/* Heap profiles and the sampled guard, as the environment asks for them. */
#pragma once

#include "base/attributes.h"

/* Starts when HAKMEM_PROFILE_HEAP has an absolute path; ignored in privileged programs. At load,
 * once. */
void hak_profile_begin(char *const environment[]);

/* Starts the sampled guard when HAKMEM_GUARD_SAMPLE says so. At load, once, when the program's
 * constructors may have run already. */
void hak_trap_begin(void);

/* Writes a profile if the signal has come. On a slow path, under no lock. */
void hak_profile_look(void);

/* HAKMEM_LEAKS: looks for samples that nothing points to, and writes a heap profile of these alone,
 * if the options ask for it. At the end of the process, under no lock, after its last profile: the
 * samples that are no leaks are forgotten. */
HAK_COLD void hak_leak_samples_look(void);

/* A loop that its magazine serves comes to no slow path: the caller's own is counted from here. */
void hak_profile_adopt(void);
