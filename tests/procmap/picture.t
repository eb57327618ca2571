#!/usr/bin/env bash
# procmap -g: the pictures of a hand-made snapshot and of changes.  Python reads
# them, because they are XML.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cd "$tmp" || exit 1
here=$tests/procmap
python3 "$tests/snap6/snapasm.py" "$here/all.s" >all.snap
# one page changed, one mapping gone, one larger, and one not writable
sed -e 's/heap01/HEAP01/' -e '/\/var\/lib\/a name/d' \
    -e 's/7f0000030000-7f0000032000/7f0000030000-7f0000033000/' \
    -e 's/7f0000008000-7f000000c000 rw-p/7f0000008000-7f000000c000 r--p/' \
    -e 's/55aa00100000 0x4000/55aa00100000 0x6000/' \
    -e 's/^z 12$/z 12\nr more\nz 7/' \
    -e 's/1735689600/1735689660/' \
    "$here/all.s" | python3 "$tests/snap6/snapasm.py" >new.snap

# texts.py: print the texts of a picture; fail if it is not well-formed, or has
# a script, or anything outside of its area.
cat >texts.py <<'END'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
width, height = int(root.get('width')), int(root.get('height'))
for e in root.iter():
    tag = e.tag.split('}')[1]
    assert tag in ('svg', 'style', 'defs', 'pattern', 'rect', 'path', 'g',
                   'title', 'text', 'tspan'), tag
    assert not [a for a in e.attrib if a.startswith('on') or 'href' in a]
    assert 0 <= float(e.get('x', 0)) <= width
    assert 0 <= float(e.get('y', 0)) <= height
    if tag == 'text':
        print(''.join(e.itertext()))
END

try "a picture is made" "$BUILD/procmap" -g all.svg -M all.snap
python3 texts.py all.svg >texts
is $? 0 "it is well-formed, and has no scripts"
is "$(stat -c %a all.svg)" 600 "only its owner may read it"
is "$(head -c 4 all.svg; grep -c '<g><title>' all.svg)" "<svg23" \
    "a strip for each mapping"
has() {
	local t

	for t; do
		grep -qxF -- "$t" texts
		ok $? "it says: $t"
	done
}
has "Memory map: all.snap" "process 7: prog20 mappings, 6.5M of addresses" \
    "process 8: other3 mappings, 24K of addresses" \
    "00007f0000004000" "/usr/bin/prog" "[ anon:arena ]"
# 7: 2 raw pages, and 2 behind 10 zero pages; heap, arena, stack; 5 kilobytes of
# all that are shared with 8
is "$(grep -cxF 'its own 8K' texts) $(grep -cxF 'its own 4K' texts)" "1 1" \
    "its own: raw pages that no other process has"
has "shared with 8 other 5K" "shared with 7 prog 5K" "not captured 52K"

try "a picture of a process alone" "$BUILD/procmap" -g one.svg -M all.snap 8
python3 texts.py one.svg >texts
has "shared with 7 prog 5K"
"$BUILD/procmap" -g - -M all.snap >out.svg
try "to standard output" cmp all.svg out.svg
# shellcheck disable=SC2002 # a pipe is meant
cat all.snap | "$BUILD/procmap" -g pipe.svg -M -
sed 's/: -</: all.snap</' pipe.svg | cmp - all.svg
is $? 0 "a snapshot from a pipe"
is "$("$BUILD/procmap" -g x.svg -s -M all.snap 8)" \
    "$("$BUILD/procmap" -s -M all.snap 8)" "with a style: the text as well"

sed '/^record 8 mem/,/^record 10/{/^record 10/!d;}' "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >lost.snap
try "of a process without its memory" "$BUILD/procmap" -g lost.svg \
    -M lost.snap 8
python3 texts.py lost.svg >texts
has "not captured 24K"
is "$(grep -c '^nothing there' texts)" 0 "without its memory: not called empty"
is "$("$BUILD/procmap" -s -M lost.snap | grep -c '^process 8')" 1 \
    "without its memory: it has mappings"

try "a picture of changes" "$BUILD/procmap" -g diff.svg -M all.snap -M new.snap
python3 texts.py diff.svg >texts
is $? 0 "changes: it is well-formed"
has "What changed: all.snap to new.snap" "gone /var/lib/a name" \
    "was rw-p [ anon ]" "was 8K [ anon ]" "changed 4K" "new 8K"
has "from 2025-01-01 00:00:00 UTC to 2025-01-01 00:01:00 UTC, 60 s later"
is "$(grep -c '<g><title>' diff.svg) $(grep -E ' unchanged(, .*)?$' texts |
    tr '\n' ';')" \
    "5 3 mappings unchanged, 24K;2 mappings unchanged, 32K;5 mappings unchanged, 116K;6 mappings unchanged, 6.2M;2 mappings unchanged, 16K;" \
    "only what changed is shown, the rest is counted"
"$BUILD/procmap" -e -g every.svg -M all.snap -M new.snap
python3 texts.py every.svg >texts
is "$(grep -c '<g><title>' every.svg) $(grep -cE ' unchanged$' texts)" "23 0" \
    "-e: everything is shown"
try "a picture without changes" \
    "$BUILD/procmap" -g same.svg -M all.snap -M all.snap
python3 texts.py same.svg >texts
is "$(grep -cE '^(changed|new|gone|was)' texts) $(
    grep -c '<g><title>' same.svg)" "0 0" "no changes are shown"
has "both at 2025-01-01 00:00:00 UTC" "2 processes unchanged"
"$BUILD/procmap" -g back.svg -M new.snap -M all.snap
python3 texts.py back.svg >texts
has "from 2025-01-01 00:01:00 UTC to 2025-01-01 00:00:00 UTC, 60 s before"
sed 's/^record 7 /record 77 /;s/^record [89] .*/record 10 none/;/^record 10/,$d' \
    "$here/all.s" | python3 "$tests/snap6/snapasm.py" >other.snap
sed '/^record 9/,$d' "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >alone.snap
try "changes of a process with another ID" \
    "$BUILD/procmap" -g other.svg -M alone.snap -M other.snap
python3 texts.py other.svg >texts
is "$(grep -cE '^(changed|new|gone|was)' texts)" 0 "another ID is not a change"
"$BUILD/procmap" -g ended.svg -M all.snap -M alone.snap
python3 texts.py ended.svg >texts
is "$(grep -c '^process 8: other' texts)" 1 "all but one ended: they are shown"

# Colors are far from each other in CIELAB, also as people without the cones for
# red or green see them (Machado, Oliveira and Fernandes, 2009).
cat >colours.py <<'END'
import itertools, re, sys
seen = (((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((.152286, 1.052583, -.204868), (.114503, .786281, .099216),
         (-.003882, -.048116, 1.051998)),
        ((.367322, .860646, -.227968), (.280085, .672501, .047413),
         (-.011820, .042940, .968881)))

def linear(c):
    return c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4

def lab(colour, eye):
    rgb = [linear(int(colour[i:i + 2], 16) / 255) for i in (1, 3, 5)]
    r, g, b = (min(1, max(0, sum(map(lambda x, y: x * y, row, rgb))))
               for row in eye)
    f = lambda t: t ** (1 / 3) if t > .008856 else 7.787 * t + 16 / 116
    x = f((.4124 * r + .3576 * g + .1805 * b) / .95047)
    y = f(.2126 * r + .7152 * g + .0722 * b)
    z = f((.0193 * r + .1192 * g + .9505 * b) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)

def far(a, b):
    return min(sum((p - q) ** 2 for p, q in zip(lab(a, eye), lab(b, eye)))
               ** .5 for eye in seen)

text = open(sys.argv[1]).read()
colour = {int(c): v for c, v in re.findall(r'\.c(\d+) { fill: (#\w+)', text)}
assert len(colour) == 18, colour
for a, b in itertools.combinations(sorted(colour), 2):
    # nothing, and what is dull, have an edge; a picture is of one kind
    if (a, b) not in ((0, 2), (0, 7), (2, 7)) and \
            (7 <= a <= 10) == (7 <= b <= 10):
        assert far(colour[a], colour[b]) > 16, (a, b)
for name in 'text', '.dim, .tick, .gap':
    ink = re.search(re.escape(name) + r' {[^}]*fill: (#\w+)', text).group(1)
    assert lab(ink, seen[0])[0] < 50, ink	# dark enough on white
END
try "colors can be told apart, also by the color-blind" \
    python3 colours.py all.svg

# Zeros that fill a gap between two runs are not old contents.
sed -e '/7f0000004000-7f0000008000/s/4000-/5000-/' \
    -e '/7f0000004000-7f0000008000/s/7f0000004000/7f0000005000/' \
    "$here/all.s" | python3 "$tests/snap6/snapasm.py" >gap.snap
"$BUILD/procmap" -g gap.svg -M gap.snap -M all.snap 7
python3 texts.py gap.svg >texts
has "was 12K [ anon:arena ]" "new 4K"

# Names with characters that XML does not have.
sed 's,/usr/bin/prog,/usr/bin/<\&\\"\\377\\001\\303\\274>,' "$here/all.s" |
    python3 "$tests/snap6/snapasm.py" >odd.snap
try "odd names" "$BUILD/procmap" -g odd.svg -M odd.snap
python3 texts.py odd.svg >texts
has '/usr/bin/<&"??ü>'

# refused STATUS MESSAGE ARGUMENT ...
refused() {
	local want="$1 procmap: $2"

	shift 2
	"$BUILD/procmap" "$@" >/dev/null 2>err
	is "$? $(cat err)" "$want" "$*"
}
refused 1 "none/x.svg: No such file or directory" -g none/x.svg -M all.snap
refused 1 "4242: No such process
procmap: no mappings to draw" -g y.svg -M all.snap 4242
is "$(find . -name 'y.svg*')" "" "no file"
finish 50
