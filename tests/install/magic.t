#!/usr/bin/env bash
# file(1) recognizes snapshots with our entry for magic(5).
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
magic=$tests/../fmt/snap6/magic

if ! command -v file >/dev/null; then
	skip "file(1) recognizes snapshots" "no file(1)" 6
	finish 6
fi
says() {
	file -b -m "$magic" "$@"
}

target "$targets/anon"
"$BUILD/snap" -o "$tmp/x.snap" "$pid"
"$BUILD/snap" -z -o "$tmp/z.snap" "$pid"
gzip -c "$tmp/x.snap" >"$tmp/gzip.snap"
plain="Plan 9/Linux process snapshot of $(id -un)@$(uname -n), amd64"
[ "$(uname -m)" = x86_64 ] || plain=${plain%amd64}$(head -n 1 "$tmp/x.snap" |
    cut -d ' ' -f 5)

is "$(says "$tmp/x.snap")" "$plain" "a snapshot is recognized"
is "$(says "$tmp/z.snap")" \
    "Plan 9/Linux process snapshot, gzip compressed" "snap -z is recognized"
is "$(says -z "$tmp/z.snap")" \
    "$plain (Plan 9/Linux process snapshot, gzip compressed)" \
    "file -z: the header of a snapshot of snap -z is printed"
is "$(says -z "$tmp/gzip.snap")" "$plain (data)" \
    "file -z: the header of a snapshot that gzip compressed is printed"
python3 "$tests/snap6/snapasm.py" "$tests/snap6/good/9front-amd64.s" \
    >"$tmp/plan9.snap"
case $(says "$tmp/plan9.snap") in
"Plan 9/Linux process snapshot"*) ok 0 "a snapshot of Plan 9 is recognized" ;;
*) ok 1 "a snapshot of Plan 9 is recognized" || says "$tmp/plan9.snap" | diag ;;
esac
# a hostile name of the user and the host
printf 'process snapshot 1 \033[31m@\007 amd64 1\n' >"$tmp/hostile.snap"
is "$(says "$tmp/hostile.snap" | tr -d '[:print:]\n')" "" \
    "control characters of the header are not printed"
finish 6
