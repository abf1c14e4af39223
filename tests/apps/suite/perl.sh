# perl: hashes, closures, sorting, regular expressions, sprintf, threads of data through forks.
source "$APPS/lib.sh"

run() { perl "$APPS/work.pl"; }

"$@"
