#include "base/fatal.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };

typedef struct line {
    size_t length;
    char text[LINE_SIZE];
} line;

static void append(line *to, const char *text) {
    size_t room = LINE_SIZE - 1 - to->length; /* the newline always fits */
    size_t length = strlen(text);
    length = length < room ? length : room;
    memcpy(to->text + to->length, text, length);
    to->length += length;
}

/* By its number: libc's write is a point where a thread may be cancelled, malloc and free are none.
 * stderr may be closed; there is nowhere else to say it. */
static void send_line(line *l) {
    int saved_errno = errno;
    l->text[l->length++] = '\n';
    syscall(SYS_write, STDERR_FILENO, l->text, l->length);
    errno = saved_errno;
}

void hak_message(const char *const parts[]) {
    line l = {0};
    for (size_t i = 0; parts[i] != NULL; i++)
        append(&l, parts[i]);
    send_line(&l);
}

void hak_fatal(const char *what, const char *function, const void *address, const char *why) {
    char digits[19];
    line l = {0};
    append(&l, "hakmem: ");
    append(&l, what);
    append(&l, ": ");
    append(&l, function);
    append(&l, "(");
    append(&l, hak_hexadecimal((uintptr_t)address, digits));
    append(&l, ")");
    if (why != NULL) {
        append(&l, ": ");
        append(&l, why);
    }
    send_line(&l);
    abort();
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
