// The same for operator new, by way of the standard library.
#include <cstdio>
#include <hakmem.h>
#include <memory>
#include <vector>

int main() {
    auto numbers = std::make_unique<std::vector<int>>(1000);
    if (hak_malloc_usable_size(numbers->data()) < 1000 * sizeof(int))
        return 1;
    return std::puts(hak_version()) < 0;
}
