#include "report/text.h"

#include "base/fatal.h"

#include <string.h>

static void add(hak_text *text, const char *part) {
    size_t length = strlen(part), room = 0;
    if (text->length < text->size)
        room = text->size - text->length;
    memcpy(text->buffer + (room != 0 ? text->length : 0), part, length < room ? length : room);
    text->length += length;
}

void hak_text_add(hak_text *text, const char *const parts[]) {
    for (; *parts != NULL; parts++)
        add(text, *parts);
}

void hak_text_number(hak_text *text, size_t number) {
    char digits[21];
    add(text, hak_decimal(number, digits));
}

size_t hak_text_end(hak_text *text) {
    if (text->size != 0)
        text->buffer[text->length < text->size ? text->length : text->size - 1] = '\0';
    return text->length;
}
