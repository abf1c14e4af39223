#include "report/answers.h"

#include "base/bits.h"
#include "base/text.h"
#include "base/variant.h"
#include "os/os.h"
#include "policy/policy.h"
#include "reclaim/follow.h"
#include "sampling/dump.h"
#include "sampling/sampling.h"
#include "thread/thread.h"

#include <string.h>

enum {
    CLIENT_MS = 1000,
    REQUEST = 2048, /* bytes of one, headers included */
    HEAD = 256,
    ROOM = 128 << 10 /* for an answer, at first */
};

typedef struct client {
    hak_socket socket;
    uint64_t ends_us;
} client;

/* ---- what is sent ---- */

static void send_head(client c, const char *status, const char *type, size_t length) {
    char head[HEAD];
    size_t bytes = hak_print(head, sizeof head,
                             "HTTP/1.0 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                             "Connection: close\r\n\r\n",
                             status, type, length);
    hak_socket_write(c.socket, head, bytes, c.ends_us);
}

static void say(client c, const char *status, const char *sentence) {
    size_t length = strlen(sentence);
    send_head(c, status, "text/plain", length);
    hak_socket_write(c.socket, sentence, length, c.ends_us);
}

/* ---- what it holds ---- */

/* Set when the server starts: tables of addresses would cost every process that loads the library.
 */
typedef struct answer {
    const char *type, *otherwise; /* what is said where the filler has nothing to say */
    hak_fill *fill;               /* NULL: there is no such page */
} answer;
static answer of_prometheus, of_json, of_heap;

void hak_answers_are(hak_fill *prometheus, hak_fill *json) {
    of_prometheus = (answer){"text/plain; version=0.0.4; charset=utf-8", "", prometheus};
    of_json = (answer){"application/json", "", json};
    of_heap = (answer){"text/plain", "no heap profile was begun: POST /heap begins one\n",
                       hak_profile_text};
}

/* In memory of its own, for a moment: nothing of it stays. False: it was too little, and *length
 * says how much there was to say. */
static bool send_in(client c, answer a, bool body, size_t size, size_t *length) {
    char *text = hak_os_map(size, 1);
    if (text == NULL) {
        say(c, "503 Service Unavailable", "out of memory\n");
        return true;
    }
    *length = a.fill(text, size);
    bool fits = *length < size;
    if (*length == 0)
        say(c, "409 Conflict", a.otherwise);
    else if (fits)
        send_head(c, "200 OK", a.type, *length);
    if (fits && body)
        hak_socket_write(c.socket, text, *length, c.ends_us);
    hak_os_unmap(text, size);
    return fits;
}

static void send_page(client c, answer a, bool body) {
    size_t length = 0, size = ROOM;
    if (a.fill == NULL) {
        say(c, "404 Not Found", "there is /metrics, /json and /heap\n");
        return;
    }
    while (!send_in(c, a, body, size, &length))
        size = hak_round_up(2 * length, hak_os_page_size());
}

/* The path of a request ends with a blank, a question mark or the line. */
static bool is(const char *path, const char *wanted) {
    size_t length = strlen(wanted);
    char end = strncmp(path, wanted, length) == 0 ? path[length] : 'x';
    return end == ' ' || end == '?' || end == '\r' || end == '\n';
}

static answer page_at(const char *path) {
    if (is(path, "/") || is(path, "/metrics"))
        return of_prometheus;
    if (is(path, "/json"))
        return of_json;
    return is(path, "/heap") ? of_heap : (answer){0};
}

/* ---- what it is told to do ---- */

/* A thread that its magazines serve would not hear of it. They are emptied, and it comes to a slow
 * path. */
static void begin_profile(client c) {
    if (HAK_GUARD || HAK_HARDENED) {
        say(c, "501 Not Implemented", "guard and hardened builds make no heap profile\n");
    } else if (hak_sampling_is_on()) {
        say(c, "200 OK", "a heap profile is made already\n");
    } else if (!hak_sampling_prepare()) {
        say(c, "503 Service Unavailable", "out of memory\n");
    } else {
        hak_sampling_begin();
        hak_heap_purge_all();
        say(c, "200 OK", "a heap profile begins\n");
    }
}

static void end_profile(client c) {
    hak_sampling_stop();
    say(c, "200 OK", "no further mallocs are sampled\n");
}

static void read_options(client c) {
    int refused = hak_policy_read_again();
    if (refused >= 0)
        hak_follow_policy();
    if (refused < 0)
        say(c, "409 Conflict", "HAKMEM_CONF named no file, or it cannot be believed any more\n");
    else if (refused > 0)
        say(c, "422 Unprocessable Content", "the file was read again; some of it does not count\n");
    else
        say(c, "200 OK", "the file was read again\n");
}

/* ---- one client ---- */

static const char *behind(const char *request, const char *method) {
    size_t length = strlen(method);
    return strncmp(request, method, length) == 0 ? request + length : NULL;
}

static bool wants(const char *request, const char *method, const char *page) {
    const char *path = behind(request, method);
    return path != NULL && is(path, page);
}

static void answer_to(client c, const char *request) {
    const char *get = behind(request, "GET "), *head = behind(request, "HEAD ");
    if (get != NULL || head != NULL)
        send_page(c, page_at(get != NULL ? get : head), get != NULL);
    else if (wants(request, "POST ", "/heap"))
        begin_profile(c);
    else if (wants(request, "DELETE ", "/heap"))
        end_profile(c);
    else if (wants(request, "POST ", "/options"))
        read_options(c);
    else
        say(c, "405 Method Not Allowed", "POST takes /heap and /options, DELETE takes /heap\n");
}

void hak_answer(hak_socket socket) {
    char request[REQUEST];
    client c = {socket, hak_os_now_us() + CLIENT_MS * UINT64_C(1000)};
    if (hak_socket_read(socket, request, sizeof request, c.ends_us))
        answer_to(c, request);
}
