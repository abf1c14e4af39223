// Every form of operator new and delete hands out and takes back blocks of this library.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include "../support/check.h"

namespace {

constexpr std::size_t sizes[] = {0, 1, 16, 100, 1000, 5000, 70000, 3 << 20};

bool is_aligned(const void *block, std::size_t alignment) {
    return block && reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

void *touched(void *block, std::size_t size, std::size_t alignment) {
    CHECK(is_aligned(block, alignment));
    CHECK(malloc_usable_size(block) >= size);
    std::memset(block, 0x5a, size);
    return block;
}

void plain_forms(std::size_t size) {
    operator delete(touched(operator new(size), size, 16));
    operator delete[](touched(operator new[](size), size, 16));
    operator delete(touched(operator new(size), size, 16), size);
    operator delete[](touched(operator new[](size), size, 16), size);
    operator delete(touched(operator new(size, std::nothrow), size, 16), std::nothrow);
    operator delete[](touched(operator new[](size, std::nothrow), size, 16), std::nothrow);
}

void aligned_forms(std::size_t size, std::size_t alignment) {
    const auto align = std::align_val_t(alignment);
    operator delete(touched(operator new(size, align), size, alignment), align);
    operator delete[](touched(operator new[](size, align), size, alignment), align);
    operator delete(touched(operator new(size, align), size, alignment), size, align);
    operator delete[](touched(operator new[](size, align), size, alignment), size, align);
    operator delete(touched(operator new(size, align, std::nothrow), size, alignment), align,
                    std::nothrow);
    operator delete[](touched(operator new[](size, align, std::nothrow), size, alignment), align,
                      std::nothrow);
}

void null_is_ignored() {
    operator delete(nullptr);
    operator delete[](nullptr);
    operator delete(nullptr, std::size_t(10));
    operator delete[](nullptr, std::size_t(10));
    operator delete(nullptr, std::nothrow);
    operator delete[](nullptr, std::nothrow);
    operator delete(nullptr, std::align_val_t(64));
    operator delete[](nullptr, std::align_val_t(64));
    operator delete(nullptr, std::size_t(10), std::align_val_t(64));
    operator delete[](nullptr, std::size_t(10), std::align_val_t(64));
    operator delete(nullptr, std::align_val_t(64), std::nothrow);
    operator delete[](nullptr, std::align_val_t(64), std::nothrow);
}

// new and malloc share their heap: this is glibc's behaviour and programs rely on it.
void new_and_free_mix() {
    for (std::size_t size : sizes) {
        std::free(operator new(size));
        operator delete(std::malloc(size));
    }
}

struct alignas(256) Wide {
    char bytes[300];
};

void containers_work() {
    std::map<int, std::string> names;
    for (int i = 0; i < 20000; i++)
        names[i] = std::string(static_cast<std::size_t>(i % 200), 'x') + std::to_string(i);
    std::thread reader([names] { CHECK(names.at(777).size() == 777 % 200 + 3); });
    reader.join();
    std::vector<std::unique_ptr<Wide>> wide;
    for (int i = 0; i < 2000; i++) {
        wide.push_back(std::make_unique<Wide>());
        CHECK(is_aligned(wide.back().get(), 256));
    }
}

} // namespace

int main() {
    for (std::size_t size : sizes) {
        plain_forms(size);
        for (std::size_t alignment = 8; alignment <= std::size_t(2) << 20; alignment *= 2)
            aligned_forms(size, alignment);
    }
    null_is_ignored();
    new_and_free_mix();
    containers_work();
    return 0;
}
