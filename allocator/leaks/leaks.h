/* Leaks: live blocks that nothing of the program points to, when it ends (HAKMEM_LEAKS).
 *
 *   suspects.h   the blocks                       handed in by who calls
 *   reach.c      memory that the program uses  -> each word that is an address in a suspect
 *                what is found is looked at in turn; what is left is a leak
 *
 * In the guard a number says who asked for each block: origins.h. Elsewhere the heap
 * profile knows it of some blocks: front/leak_samples.c.
 *
 * A word counts wherever it points into a block, as in LeakSanitizer: C++ keeps pointers to a base
 * class, programs keep pointers behind a header of their own. It must lie at an address that is a
 * multiple of its size, where compilers put pointers. Nothing here allocates from the heap, and
 * memory is read by a system call, as it may go away meanwhile: threads may still run. */
#pragma once

#include "base/types.h"
#include "leaks/suspects.h"

/* Calls `visit` for each block of the ranges that was ever handed out. No run becomes another one
 * meanwhile; threads may go on with its blocks. NULL: counts. Returns how many there are. */
typedef void hak_visit_block(const hak_slab *run, size_t index, const char *start, void *context);
size_t hak_blocks_each(hak_visit_block *visit, void *context);

/* Whose blocks are looked at. */
typedef struct hak_leaks_from {
    hak_visit_block *add; /* if it lives now: by hak_suspects_add */
    size_t (*tell)(void); /* of those that were not reached; returns how many that are */
} hak_leaks_from;

bool hak_leaks_wanted(void);

void hak_leaks_tell_failure(const char *why);

/* Looks for leaks, and reports them. At the end of the process, once; under no lock. Threads may go
 * on with their blocks. */
void hak_leaks_look(const hak_leaks_from *from);

/* The guard's way to tell: of all suspects that were not reached, but for those that `lives` says
 * false of: they were freed meanwhile. */
size_t hak_leaks_tell(bool (*lives)(const hak_suspect *s));
