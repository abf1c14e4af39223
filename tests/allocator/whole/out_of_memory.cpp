// operator new without memory in a program that is linked statically as a whole: the new handler is
// called, and bad_alloc arrives, although nothing can be looked up by name.
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "../support/check.h"

namespace {

const volatile std::size_t impossible = PTRDIFF_MAX;
int handler_calls;

bool throws_bad_alloc() {
    try {
        std::vector<char> all(impossible); // the linker takes what containers throw with
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

void patient_handler() {
    if (++handler_calls == 3)
        std::set_new_handler(nullptr);
}

} // namespace

int main() {
    CHECK(throws_bad_alloc());
    CHECK(operator new(impossible, std::nothrow) == nullptr);
    std::set_new_handler(patient_handler);
    CHECK(throws_bad_alloc());
    CHECK_THAT(handler_calls == 3, "the handler was called %d times", handler_calls);
    return 0;
}
