#!/usr/bin/env python3
"""serve - an HTTP server on a UNIX socket that counts: serve LOG SOCKET

Each request is answered, and logged, with a line "request COUNT WRONG" as in
tests/targets/apart.h.  Another thread counts, and checks the server's objects.
"""

import http.server
import os
import socketserver
import sys
import threading
import time

OBJECTS = 20000


class Count:
    """A counter that logs its number, and how many objects are wrong."""
    kept = {str(i): [i] * 3 for i in range(OBJECTS)}

    def __init__(self, log, who):
        self.log, self.who, self.count = log, who, 0

    def tell(self):
        self.count += 1
        wrong = sum(self.kept[str(i)] != [i] * 3 for i in range(OBJECTS))
        line = '%s %d %d\n' % (self.who, self.count, wrong)
        os.write(self.log, line.encode())
        return line.encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        line = self.server.count.tell()
        self.send_response(200)
        self.send_header('Content-Length', str(len(line)))
        self.end_headers()
        self.wfile.write(line)

    def address_string(self):
        return 'local'

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main(path, socket):
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with Server(socket, Handler) as server:
        server.count = Count(log, 'request')
        threading.Thread(target=server.serve_forever, daemon=True).start()
        clock = Count(log, 'clock')
        while True:
            clock.tell()
            time.sleep(0.05)


if __name__ == '__main__':
    main(*sys.argv[1:])
