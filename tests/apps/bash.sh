# Shell scripts: arrays, substitutions, subshells, pipes, here-documents.
# shellcheck source=need.sh
source "$(dirname "$0")/need.sh"
set -euo pipefail

declare -A seen
for i in {1..3000}; do
    word=w$((i * 7919 % 1000))
    seen[$word]=$((${seen[$word]:-0} + i))
done
for word in "${!seen[@]}"; do
    echo "$word ${seen[$word]}"
done | sort

text=$(for i in {1..500}; do echo "line $i ${RANDOM:0:0}"; done)
echo "${text//line/LINE}" | tail -3
for i in {1..60}; do
    (echo $((i * i)) | cat | tr 0-9 a-j)
done
wc -l <<<"$text"
