#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void write_line(const char *text, int length, int capacity) {
    if (length > capacity)
        length = capacity;
    ssize_t ignored = write(STDERR_FILENO, text, (size_t)length);
    (void)ignored;
}

void say(const char *format, ...) {
    char line[512];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    write_line(line, length, (int)sizeof line - 2);
    write_line("\n", 1, 1);
}

void check_failed(const char *file, int line, const char *format, ...) {
    char text[400];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    say("%s:%d: check failed: %s", file, line, text);
    _exit(1);
}
