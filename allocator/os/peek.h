/* A look at the process's memory, all of which may be gone, or without access, at any moment. */
#pragma once

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before the next two. False: the system does not allow it here. One thread. */
bool hak_os_peek_start(void);
void hak_os_peek_end(void);

/* Copies up to `size` bytes, up to the first page that cannot be read; returns how many. */
size_t hak_os_peek(void *to, uintptr_t from, size_t size);

/* Calls `visit` for each stretch of a mapping, from page to page, that was ever touched: others
 * read as zero or as the file, and to read them would take memory. With `private_only` for pages
 * alone that no file has. Where the system does not say: for all of it, or nothing. */
void hak_os_touched_each(uintptr_t start, uintptr_t end, bool private_only,
                         void (*visit)(uintptr_t from, uintptr_t to, void *context), void *context);

/* The mappings of the process, one after the other, as the system lists them. */
typedef struct hak_os_mapping {
    uintptr_t start, end;
    bool readable, writable, shared;
    bool is_stack; /* of the first thread: nothing else is ever joined to it */
} hak_os_mapping;

/* False: the list cannot be read. What other threads map meanwhile may be left out. */
bool hak_os_maps_each(void (*visit)(const hak_os_mapping *mapping, void *context), void *context);
