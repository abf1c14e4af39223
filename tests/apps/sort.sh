# sort with two threads on a file that does not fit its buffer; then the usual tools on it.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail
need sort awk sed gzip

awk 'BEGIN { x = 1; for (i = 0; i < 400000; i++) { x = (x * 16807) % 2147483647; print x, i } }' >numbers
sort --parallel=2 --buffer-size=4M -n numbers >sorted
sort -c -n sorted
sort --parallel=2 -k2,2r -k1,1n numbers | md5sum
md5sum <sorted
sed -n 's/^\(1[0-9]*\) .*/\1/p' sorted | uniq | wc -l
gzip -c sorted | gzip -dc | cmp - sorted && echo same
tr ' ' '\n' <sorted | sort -u | tail -2
