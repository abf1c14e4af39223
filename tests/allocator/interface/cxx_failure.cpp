// operator new without memory: bad_alloc, the new handler's loop, nullptr from the nothrow forms.
#include <cstddef>
#include <cstdint>
#include <new>

#include "../support/check.h"

namespace {

const volatile std::size_t impossible = PTRDIFF_MAX;
const volatile std::size_t all_there_is = SIZE_MAX;
const auto wide = std::align_val_t(4096);
int handler_calls;

template <class Request> bool throws_bad_alloc(Request request) {
    try {
        request();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

void every_throwing_form_throws() {
    CHECK(throws_bad_alloc([] { return operator new(impossible); }));
    CHECK(throws_bad_alloc([] { return operator new[](impossible); }));
    CHECK(throws_bad_alloc([] { return operator new(impossible, wide); }));
    CHECK(throws_bad_alloc([] { return operator new[](impossible, wide); }));
    CHECK(throws_bad_alloc([] { return operator new(all_there_is); }));
}

void every_nothrow_form_gives_null() {
    CHECK(operator new(impossible, std::nothrow) == nullptr);
    CHECK(operator new[](impossible, std::nothrow) == nullptr);
    CHECK(operator new(impossible, wide, std::nothrow) == nullptr);
    CHECK(operator new[](impossible, wide, std::nothrow) == nullptr);
}

// A handler that gives up after three calls by removing itself.
void patient_handler() {
    if (++handler_calls == 3)
        std::set_new_handler(nullptr);
}

template <class Request> void handler_is_called_until_it_gives_up(Request request) {
    handler_calls = 0;
    std::set_new_handler(patient_handler);
    request();
    CHECK_THAT(handler_calls == 3, "the handler was called %d times", handler_calls);
    CHECK(std::get_new_handler() == nullptr);
}

struct GaveUp {};

void throwing_handler() {
    handler_calls++;
    throw GaveUp();
}

void bad_alloc_handler() {
    handler_calls++;
    throw std::bad_alloc();
}

void a_handlers_exception_reaches_the_caller() {
    handler_calls = 0;
    std::set_new_handler(throwing_handler);
    bool caught = false;
    try {
        operator delete(operator new(impossible));
    } catch (const GaveUp &) {
        caught = true;
    }
    CHECK(caught && handler_calls == 1);
    std::set_new_handler(nullptr);
}

// The nothrow forms call the handler too, and turn what it throws into nullptr.
void nothrow_forms_swallow_the_exception() {
    handler_calls = 0;
    std::set_new_handler(bad_alloc_handler);
    every_nothrow_form_gives_null();
    CHECK_THAT(handler_calls == 4, "the handler was called %d times", handler_calls);
    std::set_new_handler(nullptr);
}

} // namespace

int main() {
    every_throwing_form_throws();
    every_nothrow_form_gives_null();
    for (int round = 0; round < 3; round++) {
        handler_is_called_until_it_gives_up(
            [] { CHECK(throws_bad_alloc([] { return operator new(impossible); })); });
        handler_is_called_until_it_gives_up(
            [] { CHECK(throws_bad_alloc([] { return operator new[](impossible, wide); })); });
        handler_is_called_until_it_gives_up(every_nothrow_form_gives_null);
        a_handlers_exception_reaches_the_caller();
        nothrow_forms_swallow_the_exception();
    }
    return 0;
}
