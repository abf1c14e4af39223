#!/bin/sh
# A whole program for `pipeline versus`: redis-server is filled, changed and read by one client.
folder=$(mktemp -d) && cd "$folder" || exit
redis-server --port 0 --unixsocket s --save "" --io-threads 1 >/dev/null &
until redis-cli -s s ping >/dev/null 2>&1; do :; done
perl -e 'srand 11; for (1 .. 50_000) { my $k = int rand 15_000;
  print "SETEX session:$k 1000 ", "x" x (30 + rand 500), "\r\nHSET user:", $k % 5000, " field", $k % 23, " ",
        "y" x (1 + rand 80), "\r\nLPUSH log:", $k % 700, " ", "z" x (1 + rand 90), "\r\nGET session:", int rand 15_000,
        "\r\nDEL session:", int rand 15_000, "\r\n" }' | redis-cli -s s --pipe >answers
grep -q "errors: 0," answers
code=$?
redis-cli -s s shutdown nosave
wait
rm -r "$folder"
exit $code
