#!/usr/bin/env python3
"""waiting.py LOG [HOW]: have connections that wait to be accepted, and count in
the log; once LOG.talk exists, accept and use them.  HOW adds one that cannot be
restored: closed by its client; bytes, with unread bytes; outside, of another
process, which is waiting.py LOG connect.
"""
import os
import socket
import sys
import time

os.closerange(3, 1024)
if sys.argv[2:] == ['connect']:
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    caller.connect(sys.argv[1] + '.stream')
    open(sys.argv[1] + '.connected', 'w').close()
    time.sleep(1000)
os.setsid()
log = open(sys.argv[1], 'a', buffering=1)
how = sys.argv[2] if len(sys.argv) > 2 else ''
pairs = []
for kind, name in ((socket.SOCK_STREAM, sys.argv[1] + '.stream'),
                   (socket.SOCK_SEQPACKET, '\0' + sys.argv[1])):
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(name)
    listener.listen(5)
    callers = []
    for _ in range(1 if how == 'outside' else 2):
        caller = socket.socket(socket.AF_UNIX, kind)
        caller.connect(name)
        callers.append(caller)
    pairs.append((listener, callers))
if how == 'closed':
    pairs[0][1][1].close()
if how == 'bytes':
    pairs[0][1][1].send(b'early')
n = 0
while not os.path.exists(sys.argv[1] + '.talk'):
    n += 1
    log.write('waiting %d 0\n' % n)
    time.sleep(.01)
if how == 'closed':
    del pairs[0][1][1]
for listener, callers in pairs:
    accepted = [listener.accept()[0] for _ in callers]
    for i, caller in enumerate(callers):
        caller.send(b'call %d' % i)
    heard = sorted(a.recv(100).decode() for a in accepted)
    for a in accepted:
        a.send(b'answer')
    log.write('heard %s %s\n' % (' '.join(heard), ' '.join(
        c.recv(100).decode() for c in callers)))
time.sleep(1000)
