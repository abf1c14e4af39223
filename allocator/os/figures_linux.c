#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

/* "size resident shared ...", in pages: the second number. */
static size_t second_number(const char *text) {
    size_t number = 0;
    while (*text >= '0' && *text <= '9')
        text++;
    if (*text == ' ')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (size_t)(*text - '0');
    return number;
}

static size_t resident(void) {
    char text[128];
    if (!hak_os_may_ask() || hak_os_read("/proc/self/statm", 0, text, sizeof text) < 0)
        return 0;
    return second_number(text) * hak_os_page_size();
}

hak_process hak_process_now(void) {
    int saved_errno = errno;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage); /* cannot fail with these arguments */
    hak_process now = {(size_t)usage.ru_minflt, (size_t)usage.ru_majflt, resident()};
    errno = saved_errno;
    return now;
}

size_t hak_process_number(void) {
    return (size_t)getpid();
}
