/* Text that is put into a buffer as far as there is room, and counted as a whole. Like printf's,
 * but without libc: its printf may allocate, and each name of libc's costs every process a look-up.
 *
 *   %s  a string      %.*s  so many bytes of one      %u  %lu  %zu  decimal      %p  an address */
#pragma once

#include "base/attributes.h"

#include <stdarg.h>
#include <stddef.h>

typedef struct hak_text {
    char *buffer;
    size_t size;   /* of the buffer */
    size_t length; /* of the text so far, all of it; or since the buffer was last emptied */
    void (*empty)(struct hak_text *text); /* called where there is no room; NULL: the rest is cut */
} hak_text;

HAK_FORMAT(2) void hak_text_add(hak_text *text, const char *format, ...);
void hak_text_add_all(hak_text *text, const char *format, va_list values);

/* Puts the NUL behind what has found room. Returns the length of all of it. */
size_t hak_text_end(hak_text *text);

/* As snprintf. */
HAK_FORMAT(3) size_t hak_print(char *buffer, size_t size, const char *format, ...);

/* Where a text first has the letter, or its end; by hand for the first reason of os/calls.h. */
const char *hak_find(const char *text, char wanted);

/* What follows so many blanks of a text, or its end. */
const char *hak_field(const char *text, unsigned blanks);

/* The number that the text begins with; strtoul would accept signs, blanks and a locale's ideas.
 * Returns what follows; NULL: no digits, or too many. */
const char *hak_read_decimal(const char *text, unsigned long *value);
