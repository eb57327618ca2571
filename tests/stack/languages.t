#!/usr/bin/env bash
# The stacks of programs in Go and Rust equal those that gdb finds, including
# inlined functions and source lines.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/stack/stack.sh
. "$(dirname "$0")/stack.sh"

mkdir "$tmp/src"
cat >"$tmp/src/deep.go" <<'END'
package main

import (
	"fmt"
	"os"
)

type kept struct{ n int }

//go:noinline
func (k *kept) deep(n int) int {
	if n == 0 {
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
		return k.n
	}
	return k.deep(n-1) + 1
}

func spin() {
	for i := 0; ; i++ {
		if i < 0 {
			break
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		go spin()
		go spin()
		fmt.Println("ready")
		spin()
	}
	called := func() int { return (&kept{1}).deep(3) }
	fmt.Println(called())
}
END
cat >"$tmp/src/deep.rs" <<'END'
use std::io::Read;
mod shapes {
    pub trait Area {
        fn area(&self, n: u32) -> u64;
    }
    pub struct Square<T>(pub T);
    impl<T: Into<u64> + Copy> Area for Square<T> {
        #[inline(never)]
        fn area(&self, n: u32) -> u64 {
            if n == 0 {
                super::wait_here();
                return self.0.into();
            }
            std::hint::black_box(self.area(n - 1)) + 1
        }
    }
}
#[inline(always)]
fn wait_here() {
    println!("ready");
    std::io::stdin().read(&mut [0u8; 1]).unwrap();
}
fn main() {
    let s: Box<dyn shapes::Area + Send> = Box::new(shapes::Square(3u32));
    let h = std::thread::spawn(move || s.area(2));
    println!("{}", h.join().unwrap());
}
END

# built LANGUAGE N COMMAND ...: build a program, or skip N tests
built() {
	local what=$1 n=$2 why

	shift 2
	why=$(cd "$tmp/src" && timeout 200 "$@" 2>&1) && return
	skip "$what" "${why%%$'\n'*}" "$n"
	return 1
}

# Go's runtime interrupts a thread with a signal to run another goroutine.  The
# thread is in a signal handler then.
in_handler() {
	"$BUILD/snapstack" -f "$pid" >"$tmp/out"
	grep -q 'sigreturn.*sigtramp' "$tmp/out"
}

if built Go 4 env HOME="$tmp/src" GOCACHE="$tmp/src/cache" GO111MODULE=off \
    GOFLAGS= CGO_ENABLED=0 go build -o deepgo deep.go; then
	taken go "$tmp/src/deepgo"
	same "Go: the frames of gdb" go "$tmp/src/deepgo"
	is "$("$BUILD/snapstack" "$tmp/go.snap" |
	    grep -c 'main\.(\*kept)\.deep+.* (.*/deep\.go:1[47])$')" 4 \
	    "Go: source lines"
	is "$("$BUILD/snapstack" -j "$tmp/go.snap" | jq .whole | sort -u)" \
	    true "Go: stacks that begin with a return address of 0"
	target "$tmp/src/deepgo" spin
	if until_true in_handler; then
		is "$(grep -c 'main\.spin;.*sigreturn.*sigtramp' "$tmp/out")" \
		    "$(grep -c sigtramp "$tmp/out")" \
		    "Go: what a signal has interrupted" || diag <"$tmp/out"
	else
		rm -f "$tmp/vain"
		skip "Go: what a signal has interrupted" "none was seen"
	fi
fi
if built Rust 2 rustc -g -O -o deeprs deep.rs; then
	taken rust "$tmp/src/deeprs"
	same "Rust: the frames of gdb" rust "$tmp/src/deeprs"
	"$BUILD/snapstack" "$tmp/rust.snap" >"$tmp/out"
	is "$(grep -c -e ' deep::wait_here (.*/deep\.rs:21), inlined$' \
	    -e ' <deep::shapes::Square<.*> as deep::shapes::Area>::area+' \
	    "$tmp/out")" 4 "Rust: inlined functions and their callers" ||
	    diag <"$tmp/out"
fi
finish 6
