"""Compare the memory of a stopped process with that of a mounted snapshot:
compare.py /proc/PID MNT/PID

In a mapping of more than 512 pages, it compares the first and last 256."""
import os
import sys

live, snap = sys.argv[1:]
theirs = os.open(live + "/mem", os.O_RDONLY)
ours = os.open(snap + "/mem", os.O_RDONLY)
PAGE = 4096
SOME = 256
same = holes = 0


def page(fd, addr):
    try:
        return os.pread(fd, PAGE, addr)
    except OSError:
        return None


def fail(what):
    sys.exit(what)


for line in open(live + "/maps"):
    rng, perm, _, _, ino = line.split()[:5]
    start, end = (int(x, 16) for x in rng.split("-"))
    if end > 1 << 63 or line.split()[-1].startswith("[v"):
        continue
    pages = range(start, end, PAGE)
    if len(pages) > 2 * SOME:
        pages = [*pages[:SOME], *pages[-SOME:]]
    for a in pages:
        got, want = page(ours, a), page(theirs, a)
        if got is None:
            # never touched, or a data file that is not in the snapshot
            if want is not None and any(want) and ino == "0":
                fail("%x: not there, but not zero in the process" % a)
            holes += 1
        elif got != want:
            fail("%x: %d bytes, and not the same" % (a, len(got)))
        else:
            same += 1
    # past the end, unless the next mapping begins there
    if page(theirs, end) is None and page(ours, end) is not None:
        fail("%x: reads behind a mapping" % end)

for a in 0, 4096, (1 << 47) - PAGE * 3:
    if page(theirs, a) is None and page(ours, a) is not None:
        fail("%x: reads where nothing is" % a)
print(same, "pages are the same,", holes, "are holes")
if same < 50:
    fail("only %d pages" % same)
