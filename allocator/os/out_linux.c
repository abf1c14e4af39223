#include "os/out.h"

#include "base/write.h"
#include "os/calls.h"

#include <errno.h>
#include <stdio.h>

static void fail(hak_out *out) {
    if (out->error == 0)
        out->error = errno != 0 ? errno : EIO;
}

static void flush(hak_text *text) {
    hak_out *out = (hak_out *)text;
    for (size_t done = 0; done < text->length && out->error == 0;) {
        ssize_t more = hak_write(out->file, out->buffer + done, text->length - done);
        if (more > 0)
            done += (size_t)more;
        else if (errno != EINTR)
            fail(out);
    }
    text->length = 0;
}

bool hak_out_open(hak_out *out, const char *path) {
    out->error = 0;
    out->file = -1;
    out->path = path;
    out->text = (hak_text){out->buffer, sizeof out->buffer, 0, flush};
    if (hak_print(out->part, sizeof out->part, "%s.part", path) >= sizeof out->part) {
        out->error = ENAMETOOLONG;
        return false;
    }
    int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    out->file = (int)syscall(SYS_openat, AT_FDCWD, out->part, how, HAK_OWN_MODE);
    if (out->file < 0)
        fail(out);
    return out->file >= 0;
}

void hak_out_copy(hak_out *out, const char *path) {
    char piece[1024];
    int from = hak_call_open(path);
    ssize_t length = from < 0 ? -1 : 0;
    while (from >= 0 && ((length = hak_call_read(from, piece, sizeof piece)) > 0 || errno == EINTR))
        if (length > 0)
            hak_text_add(&out->text, "%.*s", (int)length, piece);
        else if (length == 0)
            break;
    if (length < 0)
        fail(out);
    hak_call_drop(from);
}

int hak_out_close(hak_out *out) {
    if (out->file < 0)
        return out->error;
    flush(&out->text);
    if (hak_call_close(out->file) != 0 || (out->error == 0 && rename(out->part, out->path) != 0))
        fail(out);
    if (out->error != 0)
        hak_call_unlink(out->part);
    return out->error;
}
