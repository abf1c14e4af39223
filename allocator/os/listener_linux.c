#include "os/listener.h"

#include "os/calls.h"
#include "os/file.h"
#include "os/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/un.h>

enum { BACKLOG = 16 };

static hak_socket listener = {.fd = -1};
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static hak_socket file; /* that of the path: its inode is another one than the socket's */
static char pattern[sizeof address.sun_path]; /* the path with its %p; "": it has none */
static HAK_EARLY _Atomic pid_t owner; /* who listens, or may; each process that ends reads it */

/* ---- the path ---- */

/* False: it is too long. */
static bool name_it(const char *path) {
    hak_text name = {address.sun_path, sizeof address.sun_path, 0, NULL};
    for (; *path != '\0'; path++)
        if (path[0] == '%' && path[1] == 'p') {
            hak_text_add(&name, "%u", (unsigned)hak_call_process());
            path++;
        } else {
            hak_text_add(&name, "%.*s", 1, path);
        }
    return hak_text_end(&name) < sizeof address.sun_path;
}

/* ---- whether the program has ended ---- */

static hak_socket stat_file = {.fd = -1}; /* of /proc; open all the time, for its high number */

/* "number (name) state ...": what follows the name, which may have blanks and brackets. */
static const char *behind_name(const char *text) {
    const char *end = NULL;
    for (; *text != '\0'; text++)
        end = *text == ')' ? text : end;
    return end;
}

/* The number of threads is the 20th field; the main thread, which has ended, counts until the end.
 */
static bool is_last_thread(void) {
    char text[512];
    ssize_t length = hak_socket_is_same(stat_file)
                         ? syscall(SYS_pread64, stat_file.fd, text, sizeof text - 1, (off_t)0)
                         : 0;
    text[length > 0 ? length : 0] = '\0';
    const char *rest = behind_name(text);
    if (rest == NULL)
        return true;
    const char *threads = hak_field(rest, 18);
    return hak_field(rest, 1)[0] == 'Z' && threads[0] <= '2' && threads[1] == ' ';
}

/* ---- listening there ---- */

static int make_socket(void) {
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    return hak_socket_raise((int)syscall(SYS_socket, AF_UNIX, type, 0));
}

static long at_address(long call, int fd) {
    return syscall(call, fd, &address, sizeof address);
}

/* A socket of this user that refuses: its process has ended. */
static bool is_stale(void) {
    struct stat found;
    if (hak_call_lstat(address.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode) ||
        found.st_uid != (uid_t)syscall(SYS_geteuid))
        return false;
    int fd = make_socket();
    bool refused = fd >= 0 && at_address(SYS_connect, fd) != 0 && errno == ECONNREFUSED;
    hak_call_drop(fd);
    return refused;
}

/* The mode of a socket before bind is that of its file, so there is no moment in which others may
 * use it. */
static bool bind_it(int fd) {
    if (syscall(SYS_fchmod, fd, HAK_OWN_MODE) != 0)
        return false;
    if (at_address(SYS_bind, fd) == 0)
        return true;
    bool stale = errno == EADDRINUSE && is_stale() && hak_call_unlink(address.sun_path) == 0;
    return stale && at_address(SYS_bind, fd) == 0;
}

static bool listen_at(int fd) {
    struct stat made;
    if (fd < 0 || !bind_it(fd) || syscall(SYS_listen, fd, BACKLOG) != 0 ||
        hak_call_lstat(address.sun_path, &made) != 0)
        return false;
    file = (hak_socket){-1, made.st_dev, made.st_ino};
    return true;
}

static const char *open_at(const char *path) {
    if (*path != '/')
        return "the path must begin with /";
    if (!name_it(path))
        return "the path is longer than 107 bytes";
    stat_file = hak_socket_of(hak_socket_raise(hak_call_open("/proc/self/stat")));
    if (is_last_thread())
        return "/proc cannot be read";
    int fd = make_socket();
    if (!listen_at(fd)) {
        const char *why = hak_os_reason(errno);
        hak_call_drop(fd);
        return why;
    }
    listener = hak_socket_of(fd);
    owner = hak_call_process();
    return NULL;
}

static bool has_number(const char *path) {
    while (*path != '\0' && (path[0] != '%' || path[1] != 'p'))
        path++;
    return *path != '\0';
}

/* The program may write over its environment, so this is a copy. */
static void remember(const char *path) {
    size_t length = strlen(path);
    if (length < sizeof pattern && has_number(path))
        memcpy(pattern, path, length + 1);
}

const char *hak_listener_open(const char *path) {
    const char *why = HAK_KEEP_ERRNO(open_at(path));
    if (why == NULL)
        remember(path);
    return why;
}

bool hak_listener_inherit(void) {
    hak_listener_drop();
    file = hak_no_socket;
    owner = pattern[0] != '\0' ? hak_call_process() : 0;
    return owner != 0;
}

/* A child by vfork has our memory, and a number of its own. */
bool hak_listener_may_open(void) {
    return owner == hak_call_process();
}

bool hak_listener_open_own(void) {
    return HAK_KEEP_ERRNO(open_at(pattern)) == NULL;
}

bool hak_listener_is_open(void) {
    return owner == hak_call_process() && hak_socket_is_same(listener);
}

void hak_listener_close(void) {
    int saved_errno = errno;
    struct stat now;
    if (owner == 0 || owner != hak_call_process())
        return;
    owner = 0;
    if (hak_call_lstat(address.sun_path, &now) == 0 && now.st_dev == file.device &&
        now.st_ino == file.inode)
        hak_call_unlink(address.sun_path);
    errno = saved_errno;
}

void hak_listener_drop(void) {
    hak_socket_drop(listener);
    hak_socket_drop(stat_file);
    listener = stat_file = hak_no_socket;
    owner = 0;
}

static hak_socket accept_one(unsigned ms) {
    struct pollfd wanted = {.fd = listener.fd, .events = POLLIN};
    if (hak_call_poll(&wanted, ms) <= 0 || !hak_socket_is_same(listener))
        return hak_no_socket;
    const int how = SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = (int)syscall(SYS_accept4, listener.fd, NULL, NULL, how);
    if (fd < 0)
        hak_os_sleep_ms(ms); /* no descriptor is free: who waits there goes on waiting */
    return hak_socket_of(hak_socket_raise(fd));
}

hak_socket hak_listener_wait(unsigned ms, bool *ended) {
    hak_socket next = accept_one(ms);
    *ended = next.fd < 0 && is_last_thread();
    return next;
}
