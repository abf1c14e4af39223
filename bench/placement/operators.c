/* C++'s operators as compiled programs call them: their caller is the site. No program of ours
 * runs out of memory here, so nothing is thrown. */
#include <stdlib.h>

#include "recorder.h"

#define NEW(symbol, ...)                                                                           \
    void *symbol(size_t size, ##__VA_ARGS__);                                                      \
    void *symbol(size_t size, ##__VA_ARGS__)
#define DELETE(symbol, ...)                                                                        \
    void symbol(void *block, ##__VA_ARGS__);                                                       \
    void symbol(void *block, ##__VA_ARGS__)
#define UNUSED __attribute__((unused))

NEW(_Znwm) {
    return recorder_take(size, WHERE);
}
NEW(_Znam) {
    return recorder_take(size, WHERE);
}
NEW(_ZnwmRKSt9nothrow_t, UNUSED const void *tag) {
    return recorder_take(size, WHERE);
}
NEW(_ZnamRKSt9nothrow_t, UNUSED const void *tag) {
    return recorder_take(size, WHERE);
}
NEW(_ZnwmSt11align_val_t, size_t alignment) {
    return recorder_take_aligned(alignment, size, WHERE);
}
NEW(_ZnamSt11align_val_t, size_t alignment) {
    return recorder_take_aligned(alignment, size, WHERE);
}
DELETE(_ZdlPv) {
    free(block);
}
DELETE(_ZdaPv) {
    free(block);
}
DELETE(_ZdlPvm, UNUSED size_t size) {
    free(block);
}
DELETE(_ZdaPvm, UNUSED size_t size) {
    free(block);
}
DELETE(_ZdlPvSt11align_val_t, UNUSED size_t alignment) {
    free(block);
}
DELETE(_ZdaPvSt11align_val_t, UNUSED size_t alignment) {
    free(block);
}
DELETE(_ZdlPvmSt11align_val_t, UNUSED size_t size, UNUSED size_t alignment) {
    free(block);
}
DELETE(_ZdaPvmSt11align_val_t, UNUSED size_t size, UNUSED size_t alignment) {
    free(block);
}
