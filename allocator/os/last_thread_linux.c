#include "os/last_thread.h"

#include "os/calls.h"
#include "os/socket.h"

#include <errno.h>

static hak_socket stat_file = {.fd = -1}; /* of /proc; open all the time, for its high number */

/* The field behind `skip` blanks. */
static const char *field(const char *text, int skip) {
    while (skip > 0 && *text != '\0')
        skip -= *text++ == ' ';
    return text;
}

/* "number (name) state ...": what follows the name, which may have blanks and brackets. */
static const char *behind_name(const char *text) {
    const char *end = NULL;
    for (; *text != '\0'; text++)
        end = *text == ')' ? text : end;
    return end;
}

/* The number of threads is the 20th field; the main thread, which has ended, counts until the end.
 */
bool hak_is_last_thread(void) {
    char text[512];
    ssize_t length = hak_socket_is_same(stat_file)
                         ? syscall(SYS_pread64, stat_file.fd, text, sizeof text - 1, (off_t)0)
                         : 0;
    text[length > 0 ? length : 0] = '\0';
    const char *rest = behind_name(text);
    if (rest == NULL)
        return true;
    const char *threads = field(rest, 18);
    return field(rest, 1)[0] == 'Z' && threads[0] <= '2' && threads[1] == ' ';
}

bool hak_last_thread_watch(void) {
    stat_file = HAK_KEEP_ERRNO(hak_socket_of(hak_socket_raise(hak_call_open("/proc/self/stat"))));
    return !hak_is_last_thread();
}

void hak_last_thread_drop(void) {
    hak_socket_drop(stat_file);
    stat_file = hak_no_socket;
}
