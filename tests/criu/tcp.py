#!/usr/bin/env python3
"""tcp - send a stream of bytes from one machine to another

usage: tcp.py listen ADDRESS PORT >stream
       tcp.py send ADDRESS PORT <stream

The sender waits for a listener.
"""

import shutil
import socket
import sys
import time


def listen(address):
    with socket.create_server(address) as server:
        server.settimeout(30)
        return server.accept()[0]


def connect(address):
    for _ in range(300):
        try:
            return socket.create_connection(address, 30)
        except OSError:
            time.sleep(0.1)
    sys.exit('%s:%d: nobody listens' % address)


def main(how, host, port):
    address = host, int(port)
    if how == 'listen':
        with listen(address) as peer, peer.makefile('rb') as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    else:
        with connect(address) as peer, peer.makefile('wb') as file:
            shutil.copyfileobj(sys.stdin.buffer, file)


if __name__ == '__main__':
    main(*sys.argv[1:])
