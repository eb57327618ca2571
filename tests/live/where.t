#!/usr/bin/env bash
# Where other users can create names, the output goes to nobody else; a snap
# that waits for a reader can be ended.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/anon"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir -m 1777 "$tmp/all"
patience=10

# waits NAME FIFO: nobody reads FIFO; got NAME: print how much he got
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
		    "$how: another user's fifo is refused"
	done
	"${nobody[@]}" ln -s "$tmp/all/fifo" "$tmp/all/link"
	waits link "$tmp/all/fifo"
	snap -o "$tmp/all/link" "$pid"
	is "$rc $err $(got link)" "1 snap: TMP/all/link: symbolic link to something other than a file; not followed 0" \
	    "a link to it is refused"
	mkfifo -m 600 "$tmp/mine"
	ln "$tmp/mine" "$tmp/all/second"
	snap -o "$tmp/all/second" "$pid"
	is "$rc $err" "1 snap: TMP/all/second: this fifo has another hard link; not written to" \
	    "a second name of a fifo is refused"
	rm "$tmp/mine" "$tmp/all/second"
	"${nobody[@]}" sh -c "umask 0; : >'$tmp/all/old'"
	was=$(stat -c %i "$tmp/all/old")
	exec 5<"$tmp/all/old"
	snap -o "$tmp/all/old" "$pid"
	is "$rc $(stat -c '%u %a' "$tmp/all/old") $(stat -Lc '%i %s' /dev/fd/5)" \
	    "0 $(id -u) 600 $was 0" "another user's file: replaced"
	exec 5<&-
	"${nobody[@]}" mkdir "$tmp/all/dir" "$tmp/pub/dir"
	"${nobody[@]}" ln -s "$tmp/pub/dir" "$tmp/all/dirlink"
	for d in dir dirlink dir/; do
		snap=$BUILD/snapload snap -D "$tmp/all/$d" "$tmp/snap"
		is "$rc $err" "1 snapload: TMP/all/${d%/}: created by another user in a directory that everybody can write to; not written to" \
		    "images into another user's $d are refused"
	done
else
	skip "names of others" "must be root" 9
fi

# Links are replaced, and not followed.
echo old >"$tmp/file"
ln -s file "$tmp/link"
snap -o "$tmp/link" "$pid"
is "$rc $(cat "$tmp/file") $(stat -c %F "$tmp/link")" "0 old regular file" \
    "a link to a file is replaced"
ln -s /dev/null "$tmp/null"
snap -o "$tmp/null" "$pid"
is "$rc $err" "1 snap: TMP/null: symbolic link to something other than a file; not followed" \
    "a link to a device is refused"
snap -o /dev/null "$pid"
is "$rc $err $(stat -c %F /dev/null)" "0  character special file" "/dev/null"
snap -o "/proc/$$/root/$tmp/new" "$pid"
is "$rc $([ -e "$tmp/new" ]; echo $?)" "1 1" \
    "a path through a link of proc is refused"
mkdir "$tmp/there"
ln -s there "$tmp/here"
snap -o "$tmp/here/snap" "$pid"
try "a link to the directory is followed" "$BUILD/snapls" -c "$tmp/there/snap"

# Descriptors that snap inherits are used as they are.  (Not >file: a snap that
# fails this, run by root, replaces the link in /dev.)
snap -o /dev/stdout "$pid" | cat >"$tmp/out"
try "/dev/stdout, a pipe" "$BUILD/snapls" -c "$tmp/out"
snap -o /dev/fd/5 "$pid" 5>"$tmp/out"
try "/dev/fd/5" "$BUILD/snapls" -c "$tmp/out"
snap -o >(cat >"$tmp/out"; echo >"$tmp/done") "$pid"
until_true test -e "$tmp/done"
try "the shell's >(command)" "$BUILD/snapls" -c "$tmp/out"
snap -o /dev/fd/5 "$pid" 5>&-
is "$rc $err" "1 snap: /dev/fd/N: Bad file descriptor" \
    "a closed descriptor is refused"

# While snap waits for a fifo's reader, nobody is stopped; a signal ends it.
mkfifo "$tmp/fifo"
for sig in HUP INT TERM; do
	env --default-signal=$sig "$BUILD/snap" -o "$tmp/fifo" "$pid" \
	    2>"$tmp/err" &
	waiting=$!
	until_true opens "$waiting"
	ok $? "no reader: snap waits"
	free_again "$pid"
	ok $? "no reader: the process runs"
	kill -"$sig" "$waiting"
	until_true gone "$waiting"
	ok $? "no reader: SIG$sig ends it"
	kill -KILL "$waiting" 2>/dev/null
	wait "$waiting"
	is $? $((128 + $(kill -l "$sig"))) "no reader: killed by SIG$sig"
done
unnoticed "$pid" "not noticed"
finish 31
