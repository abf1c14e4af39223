/* Text that is put into a buffer as far as there is room, and counted as a whole; numbers as text,
 * and back. */
#pragma once

#include <stddef.h>

typedef struct hak_text {
    char *buffer;
    size_t size;   /* of the buffer */
    size_t length; /* of the text so far, all of it */
} hak_text;

/* The last part is NULL. */
#define HAK_PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})
void hak_text_add(hak_text *text, const char *const parts[]);
#define HAK_TEXT_ADD(text, ...) hak_text_add(text, HAK_PARTS(__VA_ARGS__))

void hak_text_number(hak_text *text, size_t number);

/* Puts the NUL behind what has found room. Returns the length of all of it. */
size_t hak_text_end(hak_text *text);

/* Decimal text of `value` in `buffer` (at least 21 bytes); returns where it starts. */
const char *hak_decimal(unsigned long long value, char buffer[21]);
/* The same in hexadecimal digits, after "0x". */
const char *hak_hexadecimal(unsigned long long value, char buffer[19]);

/* The number that the text begins with; strtoul would accept signs, blanks and a locale's ideas.
 * Returns what follows; NULL: no digits, or too many. */
const char *hak_read_decimal(const char *text, unsigned long *value);
