# Convert the Python frames in the output of snapstack -j to the format of
# pystacks.py, without the first thread.
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
