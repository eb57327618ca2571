#!/usr/bin/env bash
# Several crashes at once: at-once of them are captured, waiting more wait, and
# others are counted.  Together they keep the limits of the directory.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config "at-once 2" "waiting 1"
crash install
is "$rc $err" "0 " "installed"
falls "$targets/fall" segv 0
try "a crash is captured" "$BUILD/snapls" -c "$store/$id"

ends() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null
}

# occupy both places
until_true none_runs
as_worker "$store/.taking.0"
first=$worker
as_worker "$store/.taking.1"
second=$worker
handlers() {
	[ "$(pgrep -cf "snapcrash -c$conf take")" -eq "$1" ]
}
target "$targets/fall" segv 0
waits=$pid
printf f >&"${ask_fd[$pid]}"
until_true is_held "$store/.waiting.0"
ok $? "the next crash waits"
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true handlers 1
is "$(find "$store" -name "fall.$pid.*")" "" \
    "one more is dropped without a snapshot"
crash status
is "$(sed -n 3p "$tmp/out")" \
    "1 crash was dropped without a snapshot: too many at once" "it is counted"
is "$(sed -n 's/^CoreDumping:[[:blank:]]*//p' "/proc/$waits/status")" 1 \
    "the waiting process still dumps core"
ends "$first"
wait "$waits" 2>/dev/null
until_true taken "fall.$waits" 1
ok $? "it is captured when a place is free"
ends "$second"
until_true none_runs

# a crash has only the room that others leave which are being written
config "keep-bytes 40M"
rm "$store"/*.snap.gz
falls "$targets/fall" segv 0
crash -j info
lacks='import json, sys
print(json.load(sys.stdin)["lacks"])'
is "$(python3 -c "$lacks" <"$tmp/out")" None "one crash: all of it"
until_true none_runs
as_worker "$store/.place.0"
echo "$((37 << 20)) 0 0 -1" >"$store/.place.0"
falls "$targets/fall" segv 0
crash -j info "$pid"
is "$(python3 -c "$lacks" <"$tmp/out")" "memory was left out" \
    "another one is being written: less of it"
echo "$((40 << 20)) 0 0 -1" >"$store/.place.0"
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true none_runs
is "$(find "$store" -name "fall.$pid.*")" "" \
    "another one needs all room: nothing of it"
ends "$worker"
falls "$targets/fall" segv 0
crash -j info "$pid"
is "$(python3 -c "$lacks" <"$tmp/out")" None "the other was killed: all again"

# many at once
config "at-once 2" "waiting 40" "keep-count 5"
crash install
fall_at_once 20
crash status
is "$(wc -l <"$tmp/out")" 2 "many at once: none is dropped"
is "$(find "$store" -name '*.snap.gz' | wc -l)" 5 \
    "many at once: keep-count are kept"
n=0
for f in "$store"/*.snap.gz; do
	whole "${f##*/}" && n=$((n + 1))
done
is "$n" 5 "many at once: they are whole"
crash remove
is "$rc $err" "0 " "removed"
finish 15
