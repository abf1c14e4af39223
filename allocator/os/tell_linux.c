#include "os/tell.h"

#include "base/fatal.h"
#include "base/text.h"
#include "os/calls.h"

enum { ROOM = 512 }; /* hak_message has no more */

void hak_tell(const char *format, ...) {
    char said[ROOM];
    hak_text text = {said, sizeof said, 0, NULL};
    va_list values;
    va_start(values, format);
    hak_text_add_all(&text, format, values);
    va_end(values);
    hak_text_end(&text);
    hak_message("hakmem: process %u: %s", (unsigned)hak_call_process(), said);
}
