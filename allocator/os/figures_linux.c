#include "base/text.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <errno.h>
#include <sys/resource.h>

/* "size resident shared ...", in pages. */
static size_t resident(void) {
    char text[128];
    size_t size, pages;
    if (!hak_os_may_ask() || hak_os_read("/proc/self/statm", 0, text, sizeof text) < 0)
        return 0;
    const char *rest = hak_read_decimal(text, &size);
    bool known = rest != NULL && *rest == ' ' && hak_read_decimal(rest + 1, &pages) != NULL;
    return known ? pages * hak_os_page_size() : 0;
}

hak_process hak_process_now(void) {
    int saved_errno = errno;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage); /* cannot fail with these arguments */
    hak_process now = {(size_t)usage.ru_minflt, (size_t)usage.ru_majflt, resident()};
    errno = saved_errno;
    return now;
}
