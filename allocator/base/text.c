#include "base/text.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static void put(hak_text *text, const char *part, size_t length) {
    for (;;) {
        size_t room = text->size > text->length ? text->size - text->length : 0;
        size_t fits = length < room ? length : room;
        if (fits != 0)
            memcpy(text->buffer + text->length, part, fits);
        text->length += text->empty != NULL ? fits : length;
        if (fits == length || text->empty == NULL)
            return;
        text->empty(text);
        part += fits;
        length -= fits;
    }
}

static void put_number(hak_text *text, uint64_t value, unsigned base) {
    char digits[20], *end = digits + sizeof digits, *at = end;
    do {
        *--at = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    put(text, at, (size_t)(end - at));
}

static void put_string(hak_text *text, const char *string, int most) {
    size_t length = 0;
    while (length < (size_t)most && string[length] != '\0')
        length++;
    put(text, string, length);
}

void hak_text_add_all(hak_text *text, const char *format, va_list values) {
    for (;; format++) {
        const char *plain = format;
        format = hak_find(plain, '%');
        put(text, plain, (size_t)(format - plain));
        if (*format == '\0')
            return;
        int most = INT_MAX;
        if (*++format == '.') {
            most = va_arg(values, int);
            format += 2;
        }
        if (*format == 's')
            put_string(text, va_arg(values, const char *), most);
        else if (*format == 'u')
            put_number(text, va_arg(values, unsigned), 10);
        else if (*format == 'p')
            put(text, "0x", 2), put_number(text, (uintptr_t)va_arg(values, void *), 16);
        else
            format++, put_number(text, va_arg(values, size_t), 10); /* %lu and %zu */
    }
}

void hak_text_add(hak_text *text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    hak_text_add_all(text, format, values);
    va_end(values);
}

size_t hak_text_end(hak_text *text) {
    if (text->size != 0)
        text->buffer[text->length < text->size ? text->length : text->size - 1] = '\0';
    return text->length;
}

size_t hak_print(char *buffer, size_t size, const char *format, ...) {
    hak_text text = {buffer, size, 0, NULL};
    va_list values;
    va_start(values, format);
    hak_text_add_all(&text, format, values);
    va_end(values);
    return hak_text_end(&text);
}

const char *hak_find(const char *text, char wanted) {
    while (*text != '\0' && *text != wanted)
        text++;
    return text;
}

const char *hak_field(const char *text, unsigned blanks) {
    while (blanks > 0 && *text != '\0')
        blanks -= *text++ == ' ';
    return text;
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
