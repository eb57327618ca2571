#!/usr/bin/env python3
"""outside.py LOG: send on two datagram sockets that are connected to LOG.there
and on one that is connected to the abstract name LOG; a line "outside COUNT
WRONG" each time.  outside.py hear LOG: bind these names, and write the
datagrams to LOG.heard."""
import os
import select
import socket
import sys
import time

from counter import apart


def make():
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


def hear(path):
    there, abstract = make(), make()
    if os.path.exists(path + '.there'):
        os.unlink(path + '.there')
    there.bind(path + '.there')
    abstract.bind('\0' + path)
    with open(path + '.heard', 'a', buffering=1) as heard:
        while True:
            for sock in select.select([there, abstract], [], [])[0]:
                heard.write(sock.recv(99).decode())


def say(path):
    log = apart(path)
    socks = make(), make(), make()
    for i, sock in enumerate(socks):
        sock.connect('\0' + path if i == 2 else path + '.there')
    n = 0
    while True:
        n += 1
        wrong = 0
        for i, sock in enumerate(socks):
            try:
                sock.send(b'%d %d\n' % (i, n))
            except OSError:
                wrong += 1
        os.write(log, b'outside %d %d\n' % (n, wrong))
        time.sleep(.01)


if sys.argv[1] == 'hear':
    hear(sys.argv[2])
say(sys.argv[1])
