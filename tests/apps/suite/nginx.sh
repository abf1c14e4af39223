# nginx with two workers under wrk, reloaded while it serves: files, gzip, a proxy to itself, big
# headers. Compared are the contents of every kind of answer, before and after the load.
source "$APPS/lib.sh"

configure() {
    mkdir -p www logs
    local i
    for i in 1 2 3; do seq 1 $((i * 9000)) >"www/$i.txt"; done
    sed "s#@PORT@#$port#g; s#@HERE@#$PWD#g" "$APPS/nginx.conf" >nginx.conf
}

answers() {
    /usr/bin/python3 "$APPS/fetch.py" "http://127.0.0.1:$port" /1.txt /3.txt /zipped/2.txt /proxy/1.txt /none
}

load() { wrk -t 2 -c 40 -d 3 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port$1" >>wrk.txt; }

run() {
    port=$(free_port)
    configure
    serve nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/server.log" -g 'daemon off;'
    await answers
    answers
    load /1.txt && load /zipped/2.txt
    load /proxy/1.txt &
    local client=$!
    for _ in 1 2 3; do sleep 0.7; kill -HUP "$(cat nginx.pid)"; done
    wait $client
    answers
    grep -c 'Requests/sec' wrk.txt
    ! grep -E 'Non-2xx|signal (6|11)|exited on signal|worker process .* exited with code [1-9]' wrk.txt server.log
    kill -QUIT "$(cat nginx.pid)" && wait
}

"$@"
