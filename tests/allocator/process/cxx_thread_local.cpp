// Objects with destructors in thread_local storage and in static storage: their destructors run
// while the thread or the process ends, and both allocate and free.
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../support/check.h"

namespace {

std::atomic<int> destroyed{0};

struct Diary {
    std::map<int, std::string> entries;

    void write(int count) {
        for (int i = 0; i < count; i++)
            entries[i] = std::string(static_cast<std::size_t>(i % 300), 'd');
    }

    ~Diary() {
        std::vector<std::string> copy;
        for (const auto &entry : entries)
            copy.push_back(entry.second + "!");
        for (std::size_t i = 0; i < copy.size(); i++)
            CHECK(copy[i].size() == i % 300 + 1);
        destroyed++;
    }
};

thread_local Diary of_thread;
Diary of_process;

} // namespace

int main() {
    of_process.write(500);
    for (int round = 0; round < 75; round++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([round] { of_thread.write(round * 4); });
        for (auto &thread : threads)
            thread.join();
    }
    CHECK(destroyed == 300);
    of_thread.write(100);
    return 0;
}
