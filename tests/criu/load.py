#!/usr/bin/env python3
"""load - send requests to a port of this machine from several threads

usage: load.py PORT REQUEST EXPECTED [TIMES]

Each request has its own connection; its answer must contain EXPECTED.  Sends
TIMES requests and prints how many were answered.  Without TIMES it goes on
until it is killed, with at most 800 a second, and prints nothing.
"""

import socket
import sys
import threading
import time

THREADS = 8


def ask(port, request, expected):
    answer = b''
    with socket.create_connection(('127.0.0.1', port), 10) as peer:
        peer.sendall(request)
        while expected not in answer:
            part = peer.recv(65536)
            if not part:
                return False
            answer += part
    return True


def main(port, request, expected, times=0):
    request, expected = (text.encode().decode('unicode_escape').encode()
        for text in (request, expected))
    left = [None] * int(times)
    good = []

    def run():
        while not times or left:
            try:
                if times:
                    left.pop()
                if ask(int(port), request, expected) and times:
                    good.append(None)
                if not times:
                    time.sleep(0.01)
            except (OSError, IndexError):
                pass

    threads = [threading.Thread(target=run, daemon=True)
        for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(good))


if __name__ == '__main__':
    main(*sys.argv[1:])
