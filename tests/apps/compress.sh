# xz and tar with threads and pipes.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need xz tar

for i in {1..40}; do head -c $((i * 20000)) /dev/zero | tr '\0' "$(printf '\\%03o' $((64 + i)))" >"f$i"; done
tar --sort=name --mtime=@0 --owner=0 --group=0 -cf all.tar f*
xz -T2 --block-size=1MiB -k all.tar && xz -dc -T2 all.tar.xz | cmp - all.tar && echo same
mkdir out && tar -xJf all.tar.xz -C out && cat out/f* | md5sum
