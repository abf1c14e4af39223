/* Text that is put into a caller's buffer as far as there is room, and counted as a whole. */
#ifndef HAK_REPORT_TEXT_H
#define HAK_REPORT_TEXT_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hak_text {
    char *buffer;
    size_t size;   /* of the buffer */
    size_t length; /* of the text so far, all of it */
} hak_text;

/* What nobody knows: null in JSON, and not there in Prometheus' text. */
#define HAK_UNKNOWN ((size_t)-1)

/* Any of the parts may be a number: hak_decimal. The last one is NULL. */
void hak_text_add(hak_text *text, const char *const parts[]);
#define HAK_TEXT_ADD(text, ...) hak_text_add(text, (const char *const[]){__VA_ARGS__, NULL})

void hak_text_number(hak_text *text, size_t number);

/* Puts the NUL behind what has found room. Returns the length of all of it. */
size_t hak_text_end(hak_text *text);

#endif
