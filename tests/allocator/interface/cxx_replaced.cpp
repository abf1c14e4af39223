// A program that replaces four forms of operator new and the deletes that go with them, and leaves
// the rest to the library: those stand on the program's.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "../support/check.h"

#ifndef __clang__ // gcc misses those that are left out on purpose
#pragma GCC diagnostic ignored "-Wsized-deallocation"
#endif

namespace {

constexpr std::uint64_t single = 0x5106, array = 0xa77a;
constexpr std::size_t usual = 16, wide = 64;
long live;

// What the program has in front of each of its blocks.
void *with_header(std::size_t size, std::size_t alignment, std::uint64_t kind) {
    auto *whole = static_cast<char *>(std::aligned_alloc(alignment, size + alignment));
    if (!whole)
        throw std::bad_alloc();
    *reinterpret_cast<std::uint64_t *>(whole) = kind;
    live++;
    return whole + alignment;
}

void without_header(void *block, std::size_t alignment, std::uint64_t kind) {
    if (!block)
        return;
    char *whole = static_cast<char *>(block) - alignment;
    CHECK(*reinterpret_cast<std::uint64_t *>(whole) == kind);
    live--;
    std::free(whole);
}

} // namespace

void *operator new(std::size_t size) {
    return with_header(size, usual, single);
}
void *operator new[](std::size_t size) {
    return with_header(size, usual, array);
}
void *operator new(std::size_t size, std::align_val_t alignment) {
    return with_header(size, std::size_t(alignment), single);
}
void *operator new[](std::size_t size, std::align_val_t alignment) {
    return with_header(size, std::size_t(alignment), array);
}
void operator delete(void *block) noexcept {
    without_header(block, usual, single);
}
void operator delete[](void *block) noexcept {
    without_header(block, usual, array);
}
void operator delete(void *block, std::align_val_t alignment) noexcept {
    without_header(block, std::size_t(alignment), single);
}
void operator delete[](void *block, std::align_val_t alignment) noexcept {
    without_header(block, std::size_t(alignment), array);
}

namespace {

constexpr std::size_t size = 100;
constexpr auto aligned = std::align_val_t(wide);

void what_new_gave_comes_back_by_every_delete() {
    operator delete(operator new(size), size);
    operator delete(operator new(size), std::nothrow);
    operator delete[](operator new[](size), size);
    operator delete[](operator new[](size), std::nothrow);
    operator delete(operator new(size, aligned), size, aligned);
    operator delete(operator new(size, aligned), aligned, std::nothrow);
    operator delete[](operator new[](size, aligned), size, aligned);
    operator delete[](operator new[](size, aligned), aligned, std::nothrow);
}

void what_nothrow_gave_comes_back_by_delete() {
    operator delete(operator new(size, std::nothrow));
    operator delete[](operator new[](size, std::nothrow));
    operator delete(operator new(size, aligned, std::nothrow), aligned);
    operator delete[](operator new[](size, aligned, std::nothrow), aligned);
}

void without_memory_nothrow_gives_null() {
    const volatile std::size_t impossible = PTRDIFF_MAX - 1000;
    CHECK(operator new(impossible, std::nothrow) == nullptr);
    CHECK(operator new[](impossible, std::nothrow) == nullptr);
    CHECK(operator new(impossible, aligned, std::nothrow) == nullptr);
    CHECK(operator new[](impossible, aligned, std::nothrow) == nullptr);
}

} // namespace

int main() {
    const long before = live;
    for (int round = 0; round < 1000; round++) {
        what_new_gave_comes_back_by_every_delete();
        what_nothrow_gave_comes_back_by_delete();
    }
    without_memory_nothrow_gives_null();
    CHECK_THAT(live == before, "%ld blocks more than before", live - before);
    return 0;
}
