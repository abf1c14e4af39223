#include "base/text.h"

#include <limits.h>
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

const char *hak_decimal(unsigned long long value, char buffer[21]) {
    char *at = buffer + 20;
    *at = '\0';
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return at;
}

const char *hak_hexadecimal(unsigned long long value, char buffer[19]) {
    char *at = buffer + 18;
    *at = '\0';
    do {
        *--at = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    *--at = 'x';
    *--at = '0';
    return at;
}

const char *hak_read_decimal(const char *text, unsigned long *value) {
    const char *begin = text;
    *value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (*value > (ULONG_MAX - 9) / 10)
            return NULL;
        *value = *value * 10 + (unsigned long)(*text - '0');
    }
    return text != begin ? text : NULL;
}
