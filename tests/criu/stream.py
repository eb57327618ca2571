#!/usr/bin/env python3
"""stream - numbered blocks through a connection, both ways, without an end

usage: stream.py LOG serve ADDRESS PORT
       stream.py LOG fetch ADDRESS PORT

Each end sends as much as it can, and checks what it receives, at most five
megabytes a second: a line "serve COUNT WRONG" or "fetch COUNT WRONG" for each
block, as in tests/targets/apart.h.  The server has one client.
"""

import os
import socket
import sys
import threading
import time

from counter import apart

BLOCK = 25000


def block(number):
    return (b'%09d ' % number).ljust(BLOCK - 1, b'x') + b'\n'


def send(peer):
    number = 0
    try:
        while True:
            number += 1
            peer.sendall(block(number))
    except OSError:
        pass


def receive(peer, log, name):
    number = 0
    with peer.makefile('rb') as file:
        while True:
            number += 1
            got = file.read(BLOCK)
            if got != block(number):
                os.write(log, b'%s 0 1 %r\n' % (name, got[:20]))
                return
            os.write(log, b'%s %d 0\n' % (name, number))
            time.sleep(0.005)


def main(path, what, address, port):
    log = apart(path)
    if what == 'serve':
        with socket.create_server((address, int(port))) as server:
            # nothing is received yet, but start() waits for lines
            for number in range(1, 21):
                os.write(log, b'listen %d 0\n' % number)
            peer = server.accept()[0]
    else:
        peer = socket.create_connection((address, int(port)))
    threading.Thread(target=send, args=(peer,), daemon=True).start()
    receive(peer, log, what.encode())


if __name__ == '__main__':
    main(*sys.argv[1:])
