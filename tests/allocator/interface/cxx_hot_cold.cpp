// operator new with the hint of LLVM's MemProf, in all forms, and operator new that returns the
// size: declared as programs declare them. Blocks go back by the ordinary operator delete, sized or
// not.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>

#include "../support/check.h"
#include "../support/hinted_new.h"

namespace {

constexpr std::align_val_t line{64}, page{4096};
const volatile std::size_t impossible = PTRDIFF_MAX;

template <typename Allocate> bool throws(Allocate allocate) {
    try {
        allocate();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

void *usable(void *block, std::size_t size, std::size_t alignment) {
    CHECK(block && reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
    std::memset(block, 0x5a, size);
    return block;
}

void all_forms(std::size_t size, __hot_cold_t hint) {
    operator delete(usable(operator new(size, hint), size, 16), size);
    operator delete[](usable(operator new[](size, hint), size, 16), size);
    operator delete(usable(operator new(size, std::nothrow, hint), size, 16));
    operator delete[](usable(operator new[](size, std::nothrow, hint), size, 16));
    operator delete(usable(operator new(size, line, hint), size, 64), size, line);
    operator delete[](usable(operator new[](size, page, hint), size, 4096), size, page);
    operator delete(usable(operator new(size, page, std::nothrow, hint), size, 4096), page);
    operator delete[](usable(operator new[](size, line, std::nothrow, hint), size, 64), line);
}

// All of it is the program's, and may be told to the sized delete.
void whole(sized_ptr_t block, std::size_t asked, std::size_t alignment) {
    CHECK_THAT(block.n >= asked && block.n == malloc_usable_size(block.p), "%zu of %zu", block.n,
               asked);
    usable(block.p, block.n, alignment);
    if (alignment > 16)
        operator delete(block.p, block.n, std::align_val_t{alignment});
    else
        operator delete(block.p, block.n);
}

void returning(std::size_t size, __hot_cold_t hint) {
    whole(__size_returning_new(size), size, 16);
    whole(__size_returning_new_hot_cold(size, hint), size, 16);
    whole(__size_returning_new_aligned(size, line), size, 64);
    whole(__size_returning_new_aligned_hot_cold(size, page, hint), size, 4096);
}

} // namespace

int main() {
    const __hot_cold_t hints[] = {__hot_cold_t{0}, __hot_cold_t{128}, __hot_cold_t{255}};
    for (__hot_cold_t hint : hints) {
        for (std::size_t size : {0UL, 1UL, 24UL, 1000UL, 30000UL, 300000UL, 3000000UL}) {
            all_forms(size, hint);
            returning(size, hint);
        }
        CHECK(throws([=] { return operator new(impossible, hint); }));
        CHECK(throws([=] { return operator new[](impossible, line, hint); }));
        CHECK(throws([=] { return __size_returning_new_hot_cold(impossible, hint).p; }));
        CHECK(operator new(impossible, std::nothrow, hint) == nullptr);
        CHECK(operator new(impossible, line, std::nothrow, hint) == nullptr);
    }
    return 0;
}
