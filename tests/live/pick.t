#!/usr/bin/env bash
# snapcat -p takes processes out of a snapshot, with what lies in the records of
# others: snapload makes the same images of one as of the whole.
# beside: nothing
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target python3 "$tests/live/pick.py"
read -r first second < <(sed -n 's/^pids //p' "$lines")
snap -r -o "$tmp/snap" "$first"

# images NAME OPTION ...: made of standard input, with what is said of them
images() {
	"$BUILD/snapload" -f deleted,epoll,namespaces,pipe,sysv,unix \
	    -D "$tmp/$1" "${@:2}" >"$tmp/$1.out" \
	    2>"$tmp/$1.err"
	echo "$?" >>"$tmp/$1.err"
}
images whole -t "$second" <"$tmp/snap"
"$BUILD/snapcat" -p "$second" -o "$tmp/one" "$tmp/snap" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "one process of two"
is "$("$BUILD/snapls" -n "$tmp/one" | awk '{ print $1 }')" "$second" \
    "it alone is in the snapshot"
images alone <"$tmp/one"
is "$(cat "$tmp/alone.err")" "$(cat "$tmp/whole.err")" \
    "snapload says the same of it"
try "the images are the same" diff -r "$tmp/alone" "$tmp/whole"
try "as is what is printed" diff <(sed "s|$tmp/[a-z]*||" "$tmp/alone.out") \
    <(sed "s|$tmp/[a-z]*||" "$tmp/whole.out")
finish 5
