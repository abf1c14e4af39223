/* The mappings of the process, one after the other, as the system lists them. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct hak_os_mapping {
    uintptr_t start, end;
    bool readable, writable, shared;
    bool is_stack; /* of the first thread: nothing else is ever joined to it */
} hak_os_mapping;

/* False: the list cannot be read. What other threads map meanwhile may be left out. One thread. */
bool hak_os_maps_each(void (*visit)(const hak_os_mapping *mapping, void *context), void *context);
