# A C++ program with threads, exceptions and containers, compiled by g++.
source "$APPS/lib.sh"

setup() { g++ -std=c++17 -O2 -Wall -Wextra -Werror -pthread "$APPS/cxx_threads.cpp" -o cxx_threads; }

run() { "$SETUP/cxx_threads"; }

"$@"
