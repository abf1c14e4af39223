#include "base/fatal.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };

/* stderr may be closed; there is nowhere else to say it. */
static void send_line(const char *line, size_t length) {
    (void)HAK_KEEP_ERRNO(hak_write(STDERR_FILENO, line, length));
}

void hak_message(const char *format, ...) {
    char buffer[LINE_SIZE];
    hak_text line = {buffer, LINE_SIZE - 1, 0, NULL}; /* the newline always fits */
    va_list values;
    va_start(values, format);
    hak_text_add_all(&line, format, values);
    va_end(values);
    size_t length = line.length < line.size ? line.length : line.size;
    buffer[length] = '\n';
    send_line(buffer, length + 1);
}

void hak_fatal(const char *what, const char *function, const void *address, const char *why) {
    hak_message("hakmem: %s: %s(%p): %s", what, function, address, why);
    abort();
}
