#!/usr/bin/env bash
# A snapshot of arm64, with pages of 4, 16 and 64 KB, on whatever machine: its
# cores are those of such a machine, and come back.  The snapshot is made by
# arm64.py, and gdb tells what it sees.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

here=$tests/core
gdb=
for g in gdb-multiarch gdb; do
	command -v "$g" >/dev/null && "$g" -nx -batch \
	    -ex 'set architecture aarch64' 2>/dev/null | grep -q aarch64 &&
	    gdb=$g && break
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
load $page 0 0 $((2 * page))" "$page: pages, and what only arm64 has"
	if [ -n "$gdb" ]; then
		# shellcheck disable=SC2016 # gdb's variables
		is "$("$gdb" -nx -batch -ex 'set architecture aarch64' \
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
		    "$page: what gdb shows"
	else
		skip "$page: what gdb shows" "no gdb-multiarch"
	fi
	# exits 1: the executable is not at hand
	"$BUILD/snapcore" -r -o "$tmp/back" "$tmp/core" 2>"$tmp/err"
	"$BUILD/snapcore" -o "$tmp/again" "$tmp/back"
	is "$(python3 "$here/arm64.py" core "$tmp/again")" \
	    "$(python3 "$here/arm64.py" core "$tmp/core")" \
	    "$page: read and made again it is as it was"
	"$BUILD/snapcat" -x "$(printf '%x-%x' $((data + 1)) $((data + 2)))" \
	    -o "$tmp/less" "$tmp/snap"
	is "$(grep -a '^[0-9a-f]*-[0-9a-f]* excluded$' "$tmp/less")" \
	    "$(printf '%x-%x' $data $((data + page))) excluded" \
	    "$page: what is left out are whole pages"
	rm "$tmp"/*
done
finish 15
