/* Heap profiles and the sampled guard, as the environment asks for them. */
#pragma once

/* Starts when HAKMEM_PROFILE_HEAP has an absolute path; ignored in privileged programs. At load,
 * once. */
void hak_profile_begin(char *const environment[]);

/* Starts the sampled guard when HAKMEM_GUARD_SAMPLE says so. At load, once, when the program's
 * constructors may have run already. */
void hak_trap_begin(void);

/* Writes a profile if the signal has come. On a slow path, under no lock. */
void hak_profile_look(void);

/* A loop that its magazine serves comes to no slow path: the caller's own is counted from here. */
void hak_profile_adopt(void);
