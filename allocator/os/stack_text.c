#include "base/fatal.h"
#include "os/stack.h"

#include <stddef.h>

static void write_frame(unsigned number, const void *frame) {
    char digits[21], address[19], into[19], at[19];
    hak_os_place place = hak_os_place_of(frame);
    hak_message((const char *const[]){
        "    #", hak_decimal(number, digits), " ", hak_hexadecimal((uintptr_t)frame, address), " ",
        place.function != NULL ? place.function : "?", place.function != NULL ? "+" : "",
        place.function != NULL ? hak_hexadecimal(place.into, into) : "", " (",
        place.file != NULL ? place.file : "?", "+", hak_hexadecimal(place.at, at), ")", NULL});
}

void hak_os_stack_write(void *const *frames, unsigned depth) {
    for (unsigned i = 0; i < depth; i++)
        write_frame(i, frames[i]);
}
