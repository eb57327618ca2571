#!/usr/bin/env bash
# snapcat -p extracts processes, with what the records of others have for them:
# snapload makes the same images from one as from the whole.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target python3 "$tests/live/pick.py"
read -r first second < <(sed -n 's/^pids //p' "$lines")
snap -r -o "$tmp/snap" "$first"

# images NAME OPTION ...: make images of standard input in $tmp/NAME
images() {
	"$BUILD/snapload" -f deleted,epoll,namespaces,pipe,sysv,unix \
	    -D "$tmp/$1" "${@:2}" >"$tmp/$1.out" \
	    2>"$tmp/$1.err"
	echo "$?" >>"$tmp/$1.err"
}
images whole -t "$second" <"$tmp/snap"
"$BUILD/snapcat" -p "$second" -o "$tmp/one" "$tmp/snap" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "one process of two is extracted"
is "$("$BUILD/snapls" -n "$tmp/one" | awk '{ print $1 }')" "$second" \
    "it alone is in the snapshot"
images alone <"$tmp/one"
is "$(cat "$tmp/alone.err")" "$(cat "$tmp/whole.err")" \
    "snapload prints the same messages"
try "the images are the same" diff -r "$tmp/alone" "$tmp/whole"
try "the output is the same" diff <(sed "s|$tmp/[a-z]*||" "$tmp/alone.out") \
    <(sed "s|$tmp/[a-z]*||" "$tmp/whole.out")
finish 5
