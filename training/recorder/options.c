/* The environment. It is ignored in programs that run with other rights than their user's. */
#include "recorder.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

recorder_options recorder_wishes = {.sample = 1};
bool recorder_off;

void recorder_complain(const char *what, const char *path) {
    const char *const parts[] = {"hakmem-trace: ", what, ": ", path, "\n"};
    char line[RECORDER_PATH + 128];
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *c = parts[i]; *c != '\0' && used < sizeof line; c++)
            line[used++] = *c;
    syscall(SYS_write, STDERR_FILENO, line, used);
}

/* A number from 1 to `highest`, or `standard` where there is none. */
static uint64_t number(const char *variable, uint64_t standard, uint64_t highest) {
    const char *text = getenv(variable);
    if (text == NULL)
        return standard;
    uint64_t value = 0;
    for (const char *c = text; *c >= '0' && *c <= '9' && value <= highest; c++)
        value = value * 10 + (uint64_t)(*c - '0');
    if (value >= 1 && value <= highest)
        return value;
    recorder_complain(variable, "is not a number in its range; it is ignored");
    return standard;
}

bool recorder_read_options(void) {
    if (environ == NULL) /* the dynamic linker allocates before libc has started */
        return false;
    const char *pattern = getauxval(AT_SECURE) ? NULL : getenv("HAKMEM_TRACE");
    if (pattern == NULL || *pattern == '\0') {
        recorder_off = true;
        return false;
    }
    recorder_wishes.sample = number("HAKMEM_TRACE_SAMPLE", 1, 1 << 20);
    recorder_wishes.sites = getenv("HAKMEM_TRACE_SITES") != NULL;
    uint64_t mib =
        number("HAKMEM_TRACE_RING", 0, (uint64_t)RECORDER_RING_MAX * RECORDER_CHUNK >> 20);
    recorder_wishes.ring_chunks = (mib << 20) / RECORDER_CHUNK;
    recorder_wishes.pattern = pattern;
    return true;
}
