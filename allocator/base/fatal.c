#include "base/fatal.h"

#include "base/write.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };

/* stderr may be closed; there is nowhere else to say it. */
static void send_line(const char *line, size_t length) {
    (void)HAK_KEEP_ERRNO(hak_write(STDERR_FILENO, line, length));
}

void hak_message(const char *const parts[]) {
    char buffer[LINE_SIZE];
    hak_text line = {buffer, LINE_SIZE - 1, 0}; /* the newline always fits */
    hak_text_add(&line, parts);
    size_t length = line.length < line.size ? line.length : line.size;
    buffer[length] = '\n';
    send_line(buffer, length + 1);
}

void hak_fatal(const char *what, const char *function, const void *address, const char *why) {
    char digits[19];
    HAK_MESSAGE("hakmem: ", what, ": ", function, "(", hak_hexadecimal((uintptr_t)address, digits),
                ")", why != NULL ? ": " : "", why != NULL ? why : "");
    abort();
}
