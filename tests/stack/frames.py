# Convert the output of snapstack -j to the format of gdbframes.py.
import json
import sys

lines = []
for text in sys.stdin:
    thread = json.loads(text)
    frames = []
    for f in thread["frames"]:
        frames.append("%s%s:%d" % (f["address"], "i" if f["inlined"] else "",
                                   f.get("line", 0)))
    lines.append((thread["tid"], " ".join(frames)))
for tid, text in sorted(lines):
    print("THREAD", tid, text)
