#!/usr/bin/env bash
# procmap prints a hand-made snapshot, in every style, exactly as in the files
# NAME.out.  They have the arguments, the output, messages and the exit status.
# UPDATE=1 writes them again.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cd "$tmp" || exit 1
here=$tests/procmap
python3 "$tests/snap6/snapasm.py" "$here/all.s" >all.snap

# golden NAME ARGUMENT ...: compare with NAME.out
golden() {
	local name=$1

	shift
	{
		echo "procmap $*"
		timeout 20 "$BUILD/procmap" "$@" 2>err
		echo "exit $?"
		# a message of -v on kernels without Landlock
		sed "s,^$BUILD/,,; /^procmap: not confined: /d" err
	} >"$name.out"
	if [ -n "${UPDATE-}" ]; then
		cp "$name.out" "$here/$name.out"
	fi
	try "procmap $*" diff -u "$here/$name.out" "$name.out"
}

golden default -M all.snap
golden all -av -M all.snap
golden amaps -A -M all.snap
golden lines -l -M all.snap 7
golden map -m -M all.snap 7
golden mapv -mv -M all.snap 7
golden ddb -d -M all.snap 7
golden ddbv -dv -M all.snap 7
golden solaris -s -M all.snap 7
golden pairs -aslmdA -M all.snap 8
golden resident -x -M all.snap
golden reserved -r -M all.snap
# a mapping below the stack, nearer than the gap; nearer than its limit
for end in 7ffbfff80000 7ffbff8a0000; do
	start=$(printf %x $((0x$end - 0x200000)))
	sed "s/7f0000700000-7f0000900000/$start-$end/" "$here/all.s" |
	    python3 "$tests/snap6/snapasm.py" >"$end.snap"
done
golden gap-short -r -M 7ffbfff80000.snap 7
golden gap-low -r -M 7ffbff8a0000.snap 7
golden both -xA -M all.snap 7
golden debug -D 31 -m -M all.snap 8
golden entries -D 8 -s -M all.snap 7
golden namelist -N /bsd -s -M all.snap -p 8
golden thread -s -M all.snap 9
golden several -s -M all.snap -p 8 4242 8 10
golden zombie -M all.snap 10
golden late -M all.snap 8 -s

python3 "$tests/criu/criuasm.py" make large images
golden criu -a -M images
"$BUILD/snapcore" -p 8 -o core all.snap 2>err
golden core -a -M core

sed '1,/^"process/!{/^record 10/,$!d;}' "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >zombie.snap
golden none -M zombie.snap

golden mask-large -D 32 -M all.snap
golden mask-hex -D 0x1 -M all.snap
golden pid-word -M all.snap abc
golden pid-wide -M all.snap 2147483648
golden pid-negative -M all.snap -p -1
golden option -z
golden no-argument -M
golden no-file -M none.snap
golden two-files -M all.snap -M all.snap
golden every-alone -e -M all.snap
golden three-files -M all.snap -M all.snap -M all.snap -g x.svg
head -c 3000 all.snap >cut.snap
golden cut -M cut.snap

# A terminal: names are shortened, numbers are not.
# wide COLUMNS ARGUMENT ...
wide() {
	python3 - "$@" <<-'END'
		import fcntl, os, pty, struct, sys, termios
		columns = int(sys.argv[1])
		pid, fd = pty.fork()
		if pid == 0:
		    os.environ.pop('COLUMNS', None)
		    fcntl.ioctl(1, termios.TIOCSWINSZ,
		        struct.pack('4H', 24, columns, 0, 0))
		    os.execv(sys.argv[2], sys.argv[2:])
		text = b''
		while True:
		    try:
		        more = os.read(fd, 65536)
		    except OSError:
		        break
		    if not more:
		        break
		    text += more
		os.waitpid(pid, 0)
		sys.stdout.write(text.decode().replace('\r', ''))
	END
}
wide 60 "$BUILD/procmap" -s -M all.snap 7 >narrow
"$BUILD/procmap" -s -M all.snap 7 >full
is "$(awk 'length > 60' narrow | wc -l)" 0 "a terminal: no line is wider"
is "$(cut -c 1-43 narrow)" "$(cut -c 1-43 full)" \
    "a terminal: numbers are whole"
is "$(grep gone narrow)" \
    "00007F0000010000     16K read              ...gone (deleted)" \
    "a terminal: the end of a name is kept"
wide 200 "$BUILD/procmap" -s -M all.snap 7 >whole
try "a wide terminal: nothing is shortened" cmp full whole
wide 10 "$BUILD/procmap" -a -M all.snap 7 | sed 's/ - .*//' >narrow
"$BUILD/procmap" -a -M all.snap 7 | sed 's/ - .*//' >full
try "a terminal that is too narrow: numbers are whole" cmp full narrow

# Characters that take two columns; control characters, including 0x80 to 0x9f,
# as bytes and in UTF-8.
odd='/usr/\\346\\274\\242\\345\\255\\227\\346\\274\\242\\345\\255\\227/\\303\\274'
sed "s,/usr/bin/prog,$odd," "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >odd.snap
wide 58 "$BUILD/procmap" -s -M odd.snap 7 | sed -n 1p >narrow
is "$(cut -d K -f 2 <narrow)" " read              /usr/漢字漢字/ü" \
    "a terminal: wide characters that just fit"
wide 57 "$BUILD/procmap" -s -M odd.snap 7 | sed -n 1p >narrow
is "$(cut -d K -f 2 <narrow)" " read              .../漢字漢字/ü" \
    "a terminal: wide characters that do not"
sed 's,/usr/bin/prog,/\\033[2J\\177\\302\\2332J\\233\\302\\240\\377,' "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >odd.snap
for o in -a -s -l -mv -dv -x -r; do
	"$BUILD/procmap" "$o" -M odd.snap 7 | grep -c "?\[2J???2J?$(
	    printf '\302\240')?" >found
	is "$(cat found)" 3 "$o: no control character is printed"
done
# shellcheck disable=SC2016 # a file of that name is none of System V
sed 's,/usr/bin/prog,/SYSV0000000g (deleted),' "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >odd.snap
is "$("$BUILD/procmap" -s -M odd.snap 7 | grep -c /SYSV0000000g)" 3 \
    "a file with the name of System V shared memory"

"$BUILD/procmap" -M all.snap >/dev/full 2>err
is "$? $(cat err)" "1 procmap: standard output: No space left on device" \
    "a full disk is an error"
finish 53
