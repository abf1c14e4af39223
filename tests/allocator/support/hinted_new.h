/* operator new with the hint of LLVM's MemProf, in all forms, and operator new that returns the
 * size: declared as C++ programs declare them. NULL where the allocator has none. */
#ifndef SUPPORT_HINTED_NEW_H
#define SUPPORT_HINTED_NEW_H

#include <cstddef>
#include <cstdint>
#include <new>

#define WEAK __attribute__((weak))

enum class __hot_cold_t : std::uint8_t {};

WEAK void *operator new(std::size_t, __hot_cold_t);
WEAK void *operator new[](std::size_t, __hot_cold_t);
WEAK void *operator new(std::size_t, const std::nothrow_t &, __hot_cold_t) noexcept;
WEAK void *operator new[](std::size_t, const std::nothrow_t &, __hot_cold_t) noexcept;
WEAK void *operator new(std::size_t, std::align_val_t, __hot_cold_t);
WEAK void *operator new[](std::size_t, std::align_val_t, __hot_cold_t);
WEAK void *operator new(std::size_t, std::align_val_t, const std::nothrow_t &,
                        __hot_cold_t) noexcept;
WEAK void *operator new[](std::size_t, std::align_val_t, const std::nothrow_t &,
                          __hot_cold_t) noexcept;

struct sized_ptr_t {
    void *p;
    std::size_t n;
};
extern "C" {
WEAK sized_ptr_t __size_returning_new(std::size_t);
WEAK sized_ptr_t __size_returning_new_aligned(std::size_t, std::align_val_t);
WEAK sized_ptr_t __size_returning_new_hot_cold(std::size_t, __hot_cold_t);
WEAK sized_ptr_t __size_returning_new_aligned_hot_cold(std::size_t, std::align_val_t, __hot_cold_t);
}

#undef WEAK

#endif
