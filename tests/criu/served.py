#!/usr/bin/env python3
# Use sockets within a network namespace: a TCP server at several addresses, a
# UDP server, an abstract name.  Each answer is a line "name count wrong" in the
# log.  They can be made to rest: a connection that was not yet accepted is not
# restored.
import os
import socket
import sys
import time

from counter import rest

os.setsid()
os.closerange(3, 1024)
log = open(sys.argv[1], "a", buffering=1)
addresses = ["127.0.0.1"] + sys.argv[2:]
tcp = socket.socket()
tcp.bind(("", 7))
tcp.listen(5)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 7))
unix = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
unix.bind("\0served")
count = 0


def tcp_ask(address):
    with socket.create_connection((address, 7), 5) as s:
        c, _ = tcp.accept()
        with c:
            c.sendall(b"%d" % count)
        return int(s.recv(100))


def datagram_ask(family, there, at):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.sendto(b"%d" % count, at)
        return int(there.recv(100))


while True:
    rest(sys.argv[1])
    count += 1
    for a in addresses:
        log.write("tcp-%s %d %d\n" % (a, count, tcp_ask(a) != count))
    got = datagram_ask(socket.AF_INET, udp, ("127.0.0.1", 7))
    log.write("udp %d %d\n" % (count, got != count))
    got = datagram_ask(socket.AF_UNIX, unix, "\0served")
    log.write("unix %d %d\n" % (count, got != count))
    time.sleep(0.01)
