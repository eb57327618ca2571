#!/usr/bin/env bash
# Where others can make names, too: what is written goes to nobody else, and
# who waits for a reader can be ended.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/anon"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir -m 1777 "$tmp/all"
patience=10

# What came out of a fifo, to who had waited for it.
waits() {
	"${nobody[@]}" cat "$2" >"$tmp/pub/loot.$1" &
	reader=$!
}
opens() {
	grep -qE 'fifo_open|wait_for_partner' "/proc/$1/wchan"
}
got() {
	kill "$reader" 2>/dev/null
	wait "$reader"
	wc -c <"$tmp/pub/loot.$1"
}

if is_root; then
	snap -o "$tmp/snap" "$pid"
	"${nobody[@]}" mkfifo -m 666 "$tmp/all/fifo"
	for how in snap snapcat snapcore; do
		waits "$how" "$tmp/all/fifo"
		until_true opens "$reader"
		case $how in
		snap) set -- "$pid" ;;
		*) set -- "$tmp/snap" ;;
		esac
		snap=$BUILD/$how snap -o "$tmp/all/fifo" "$@"
		is "$rc $err $(got "$how")" "1 $how: TMP/all/fifo: this fifo belongs to another user; not written to (to write anyway: > TMP/all/fifo) 0" \
		    "$how: the fifo of another, in a directory for all"
	done
	"${nobody[@]}" ln -s "$tmp/all/fifo" "$tmp/all/link"
	waits link "$tmp/all/fifo"
	snap -o "$tmp/all/link" "$pid"
	is "$rc $err $(got link)" "1 snap: TMP/all/link: symbolic link to something other than a file; not followed 0" \
	    "a link to it"
	mkfifo -m 600 "$tmp/mine"
	ln "$tmp/mine" "$tmp/all/second"
	snap -o "$tmp/all/second" "$pid"
	is "$rc $err" "1 snap: TMP/all/second: this fifo has another hard link; not written to" \
	    "a second name of a fifo"
	rm "$tmp/mine" "$tmp/all/second"
	"${nobody[@]}" sh -c "umask 0; : >'$tmp/all/old'"
	was=$(stat -c %i "$tmp/all/old")
	exec 5<"$tmp/all/old"
	snap -o "$tmp/all/old" "$pid"
	is "$rc $(stat -c '%u %a' "$tmp/all/old") $(stat -Lc '%i %s' /dev/fd/5)" \
	    "0 $(id -u) 600 $was 0" "a file of another: replaced, not written to"
	exec 5<&-
	"${nobody[@]}" mkdir "$tmp/all/dir" "$tmp/pub/dir"
	"${nobody[@]}" ln -s "$tmp/pub/dir" "$tmp/all/dirlink"
	for d in dir dirlink dir/; do
		snap=$BUILD/snapload snap -D "$tmp/all/$d" "$tmp/snap"
		is "$rc $err" "1 snapload: TMP/all/${d%/}: created by another user in a directory that everybody can write to; not written to" \
		    "images into $d of another"
	done
else
	skip "names of others" "must be root" 9
fi

# Links are replaced, and lead nowhere.
echo old >"$tmp/file"
ln -s file "$tmp/link"
snap -o "$tmp/link" "$pid"
is "$rc $(cat "$tmp/file") $(stat -c %F "$tmp/link")" "0 old regular file" \
    "a link to a file is replaced"
ln -s /dev/null "$tmp/null"
snap -o "$tmp/null" "$pid"
is "$rc $err" "1 snap: TMP/null: symbolic link to something other than a file; not followed" \
    "a link to a device"
snap -o /dev/null "$pid"
is "$rc $err $(stat -c %F /dev/null)" "0  character special file" "/dev/null"
snap -o "/proc/$$/root/$tmp/new" "$pid"
is "$rc $([ -e "$tmp/new" ]; echo $?)" "1 1" "through a link of proc"
mkdir "$tmp/there"
ln -s there "$tmp/here"
snap -o "$tmp/here/snap" "$pid"
try "a link on the way" "$BUILD/snapls" -c "$tmp/there/snap"

# What we were handed is used as it is.  (Not >file: who gets that wrong as
# root replaces the link in /dev.)
snap -o /dev/stdout "$pid" | cat >"$tmp/out"
try "/dev/stdout, a pipe" "$BUILD/snapls" -c "$tmp/out"
snap -o /dev/fd/5 "$pid" 5>"$tmp/out"
try "/dev/fd/5" "$BUILD/snapls" -c "$tmp/out"
snap -o >(cat >"$tmp/out"; echo >"$tmp/done") "$pid"
until_true test -e "$tmp/done"
try "the shell's >(command)" "$BUILD/snapls" -c "$tmp/out"
snap -o /dev/fd/5 "$pid" 5>&-
is "$rc $err" "1 snap: /dev/fd/N: Bad file descriptor" \
    "a descriptor that is not open"

# Who waits for the reader of a fifo keeps nobody stopped, and can be ended.
mkfifo "$tmp/fifo"
for sig in HUP INT TERM; do
	env --default-signal=$sig "$BUILD/snap" -o "$tmp/fifo" "$pid" \
	    2>"$tmp/err" &
	waiting=$!
	until_true opens "$waiting"
	ok $? "no reader: waits"
	free_again "$pid"
	ok $? "no reader: the process runs"
	kill -"$sig" "$waiting"
	until_true gone "$waiting"
	ok $? "no reader: SIG$sig ends it"
	kill -KILL "$waiting" 2>/dev/null
	wait "$waiting"
	is $? $((128 + $(kill -l "$sig"))) "no reader: of SIG$sig"
done
unnoticed "$pid" "not noticed"
finish 31
