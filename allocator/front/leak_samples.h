/* Leaks among the samples of a heap profile (HAKMEM_LEAKS, docs/heap-profiles.md). */
#pragma once

#include "base/attributes.h"

/* Looks for samples that nothing points to, and writes a heap profile of these alone, if the
 * options ask for it. At the end of the process, after its last profile: the samples that are no
 * leaks are forgotten. */
HAK_COLD void hak_leak_samples_look(void);
