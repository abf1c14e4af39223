# gcc and g++ compile, link and archive something; what comes out is identical and works.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need gcc g++ ar objdump

for i in {1..12}; do
    echo "#include <stdio.h>
    int f$i(int n); int f$i(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * $i; return s; }"
done >many.c
echo 'int f7(int); int main(void) { return f7(10) == 315 ? 0 : 1; }' >main.c
gcc -O2 -c many.c && ar rcsD libmany.a many.o && gcc -O2 main.c -L. -lmany -o program && ./program
cat >heavy.cpp <<'CPP'
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
int main() {
    std::map<std::string, int> m;
    for (int i = 0; i < 1000; i++) m[std::to_string(i * 7919 % 1000)]++;
    std::cout << m.size() << *std::make_unique<std::string>("ok") << "\n";
}
CPP
g++ -O2 heavy.cpp -o heavy && ./heavy
objdump -d many.o | md5sum && objdump -d heavy | md5sum
