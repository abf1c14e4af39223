#include "memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static size_t field_of(const char *path, const char *field) {
    char text[4096];
    size_t used = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_THAT(file >= 0, "cannot open %s", path);
    for (ssize_t got; (got = read(file, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    close(file);
    text[used] = '\0';
    const char *found = strstr(text, field);
    CHECK_THAT(found, "%s has no %s", path, field);
    return strtoul(found + strlen(field), NULL, 10);
}

size_t smaps_kib(const char *field) {
    return field_of("/proc/self/smaps_rollup", field);
}

size_t status_kib(const char *field) {
    return field_of("/proc/self/status", field);
}

size_t resident_bytes(const void *start, size_t size) {
    unsigned char present[1024];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 0;
    for (size_t at = 0, part; at < size; at += part) {
        part = size - at < sizeof present * page ? size - at : sizeof present * page;
        CHECK(mincore((char *)start + at, part, present) == 0);
        for (size_t i = 0; i * page < part; i++)
            bytes += (present[i] & 1) * page;
    }
    return bytes;
}

bool calls_are_filtered(void) {
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
}

bool nothing_is_taken(void) {
    if (calls_are_filtered())
        say("nothing is taken from threads that sleep under a filter of system calls");
    return calls_are_filtered();
}

void sleep_ms(unsigned milliseconds) {
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000L};
    nanosleep(&time, NULL);
}

void goes_back_by_itself(size_t allowed_kib) {
    size_t before = rss_kib(), after;
    unsigned long looks = 0;
    do {
        free(malloc(100));
        sleep_ms(1);
        looks++;
        after = rss_kib();
    } while (after > allowed_kib);
    say("%zu KiB -> %zu after %lu looks, allowed are %zu", before, after, looks, allowed_kib);
}
