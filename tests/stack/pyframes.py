# The Python frames in what snapstack -j prints, from standard input, as
# pystacks.py has them, but for the first thread.
import json
import os
import sys

for text in sys.stdin:
    thread = json.loads(text)
    if thread['tid'] == thread['pid']:
        continue
    words = []
    for f in thread['frames']:
        for p in f.get('python', []):
            words.append('%s:%s:%d' % (p['function'],
                                       os.path.normpath(p['file']),
                                       p['line']))
    print(thread['tid'], ' '.join(words))
