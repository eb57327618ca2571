#!/usr/bin/env bash
# Cores of an arm64 snapshot with pages of 4, 16 and 64 KB are those of such a
# machine, on any machine, and can be read back.  arm64.py makes the snapshot,
# and gdb reads the cores.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

here=$tests/core
multiarch=
for g in gdb-multiarch gdb; do
	command -v "$g" >/dev/null && "$g" -nx -batch \
	    -ex 'set architecture aarch64' 2>/dev/null | grep -q aarch64 &&
	    multiarch=$g && break
done

for page in 4096 16384 65536; do
	python3 "$here/arm64.py" $page "$tmp/snap"
	text=$((64 * page)) data=$((128 * page))
	try "$page: a core" "$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
	is "$(python3 "$here/arm64.py" core "$tmp/core")" "machine 183
files 1 $page $text $((text + 2 * page)) 2
note 401
note 406
note 401
note 406
load $page 0 0 0
load $page 0 0 $((2 * page))" "$page: page size and notes of arm64"
	if [ -n "$multiarch" ]; then
		# shellcheck disable=SC2016 # gdb's variables
		is "$("$multiarch" -nx -batch -ex 'set architecture aarch64' \
		    -ex "core $tmp/core" -ex 'printf "threads\n"' \
		    -ex 'thread apply 1 2 printf "%ld %lx %lx %lx %lx %x %lx\n", $x5, $sp, $pc, $cpsr, $v3.d.u[0], $fpcr, $tpidr' \
		    -ex "x/s $((data + page + 1024))" 2>/dev/null |
		    sed '1,/^threads/d' | grep -v '^$' | cut -c1-99)" \
		    "Thread 1 (LWP 7):
1005 $(printf '%x %x' $((data + 128)) $((text + 4))) 80001000 100000003 3000000 ffff80000001
Thread 2 (LWP 8):
2005 $(printf '%x %x' $((data + 256)) $((text + 8))) 80001000 200000003 3000000 ffff80000002
$(for ((i = 0; i < 20; i++)); do printf 'at %x ' $((data + page + 1024)); done |
		    sed "s/^/$(printf '0x%x:\t"' $((data + page + 1024)))/" |
		    cut -c1-99)" \
		    "$page: gdb shows threads and memory"
	else
		skip "$page: gdb shows threads and memory" "no gdb-multiarch"
	fi
	# exits 1: the executable is missing
	"$BUILD/snapcore" -r -o "$tmp/back" "$tmp/core" 2>"$tmp/err"
	"$BUILD/snapcore" -o "$tmp/again" "$tmp/back"
	is "$(python3 "$here/arm64.py" core "$tmp/again")" \
	    "$(python3 "$here/arm64.py" core "$tmp/core")" \
	    "$page: read back, the core is the same"
	"$BUILD/snapcat" -x "$(printf '%x-%x' $((data + 1)) $((data + 2)))" \
	    -o "$tmp/less" "$tmp/snap"
	is "$(grep -a '^[0-9a-f]*-[0-9a-f]* excluded$' "$tmp/less")" \
	    "$(printf '%x-%x' $data $((data + page))) excluded" \
	    "$page: whole pages are excluded"
	rm "$tmp"/*
done
finish 15
