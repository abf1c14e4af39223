// An index as a server may have: entries that each request walks, and beside each what is known of
// it, which nobody looks at. Nothing here names a hint: the compiler puts it in by a memory profile.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct details {
    char text[48];
};

struct entry {
    entry *next;
    details *known;
    std::uint64_t key, hits, more[2];
};
static_assert(sizeof(entry) == sizeof(details), "both of one size class");

__attribute__((noinline)) entry *make_entry(std::uint64_t key, entry *next) {
    return new entry{next, nullptr, key, 0, {}};
}

__attribute__((noinline)) details *make_details(std::uint64_t key) {
    auto *known = new details;
    std::snprintf(known->text, sizeof known->text, "entry %llu",
                  static_cast<unsigned long long>(key));
    return known;
}

// Pages of 64 KiB that have an entry and details.
unsigned shared_pages(const std::vector<entry *> &all) {
    std::vector<std::uintptr_t> hot, both;
    for (const entry *one : all)
        hot.push_back(reinterpret_cast<std::uintptr_t>(one) >> 16);
    unsigned shared = 0;
    for (const entry *one : all) {
        std::uintptr_t page = reinterpret_cast<std::uintptr_t>(one->known) >> 16;
        for (std::uintptr_t other : hot)
            if (other == page) {
                shared++;
                break;
            }
    }
    return shared;
}

} // namespace

int main(int argc, char **argv) {
    std::size_t entries = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
    std::size_t walks = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2000;
    std::vector<entry *> all;
    for (std::size_t i = 0; i < entries; i++) {
        all.push_back(make_entry(i, all.empty() ? nullptr : all.back()));
        all.back()->known = make_details(i);
    }
    std::uint64_t sum = 0;
    for (std::size_t walk = 0; walk < walks; walk++)
        for (entry *at = all.back(); at != nullptr; at = at->next)
            sum += at->key + at->hits++;
    std::printf("sum=%llu shared=%u\n", static_cast<unsigned long long>(sum), shared_pages(all));
    for (entry *one : all) {
        delete one->known;
        delete one;
    }
    return 0;
}
