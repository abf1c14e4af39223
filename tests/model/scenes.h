/* What the scenarios share. */
#ifndef HAKMEM_MODEL_SCENES_H
#define HAKMEM_MODEL_SCENES_H

#include "base/classes.h"
#include "heap/heap.h"
#include "remote/chain.h"
#include "bin/bin.h"
#include "slab/slab.h"
#include "model.h"
#include "policy/policy.h"

/* The class that they use: 64 bytes, so eight words in a carrier. */
unsigned scene_class(void);

/* Blocks of a fresh slab of a fresh heap. */
hak_heap *scene_heap(void **blocks, size_t count);

/* A thread uses a block: a write that must be ordered with those of others. */
void scene_use(void *block);

/* Takes all blocks out of a heap's magazine; returns how many. */
size_t scene_empty(hak_heap *heap, void **out);
/* All of `blocks` are among `found`, once, and nothing else is. */
bool scene_same(void *const *blocks, void *const *found, size_t count);

/* No purge by the clock, unless a scenario sets the delay. */
extern hak_policy scene_policy;
extern uint64_t scene_now_ms;

#endif
