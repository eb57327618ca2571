#!/usr/bin/env bash
# Go's own debugger reads our core of a Go program, as in the example in
# snap(7).  It finds all goroutines, callers, and variables.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

for p in dlv go; do
	command -v $p >/dev/null || skip_all "no $p"
done
if ! is_root || [ ! -e /dev/fuse ] || [ ! -x "$BUILD/snapfs" ]; then
	skip_all 'no /dev/fuse'
fi

mkdir "$tmp/deep" "$tmp/mnt"
cat >"$tmp/deep/deep.go" <<'END'
package main

import (
	"fmt"
	"os"
)

type kept struct {
	name string
	n    int
}

func deep(n int, v *kept) int {
	if n == 0 {
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
		return v.n
	}
	return deep(n-1, v) + 1
}

func idle(c chan int) { <-c }

func main() {
	c := make(chan int)
	for i := 0; i < 3; i++ {
		go idle(c)
	}
	fmt.Println("report deep", deep(9, &kept{"as it was", -9}))
}
END
export HOME=$tmp/deep GOCACHE=$tmp/deep/cache GO111MODULE=off GOFLAGS=
(cd "$tmp/deep" && CGO_ENABLED=0 timeout 200 go build -gcflags='all=-N -l' \
    -o deep deep.go) >"$tmp/err" 2>&1 ||
    skip_all "go build: $(tail -n 1 "$tmp/err")"

target "$tmp/deep/deep"
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "taken"
"$BUILD/snapfs" "$tmp/snap" "$tmp/mnt"
recipe=$(page_commands "$tests/../cmd/snap/snap.7" | grep '^dlv core ')
cat >"$tmp/commands" <<'END'
goroutines
goroutine 1
bt
frame 9 print v.name
quit
END
(cd "$tmp/mnt/$pid" && timeout 100 bash -c "$recipe --init '$tmp/commands' \
--allow-non-terminal-interactive") >"$tmp/out" 2>&1 </dev/null
is "$(grep -c 'Goroutine .* main\.idle ' "$tmp/out")" 3 "$recipe: goroutines"
is "$(grep -c ' in main\.deep$' "$tmp/out")" 10 "$recipe: frames"
is "$(tail -n 1 "$tmp/out")" '"as it was"' "$recipe: a variable" ||
    diag <"$tmp/out"
umount "$tmp/mnt"
unnoticed "$pid" "not noticed"
finish 5
