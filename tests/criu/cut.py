#!/usr/bin/env python3
"""cut - relay a connection that breaks: cut N COMMAND ...

Relays standard input to COMMAND, and its output back.  Ends both directions
after N bytes of input, or, if N is negative, before line -N of the output;
lines "alive" do not count.
"""

import os
import select
import subprocess
import sys


def main(most, command):
    child = subprocess.Popen(command, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    there, back = child.stdin.fileno(), child.stdout.fileno()
    sent = lines = 0
    watched = [0, back]
    while watched:
        for fd in select.select(watched, [], [])[0]:
            data = os.read(fd, 65536)
            if not data:
                watched.remove(fd)
                if fd == 0:
                    child.stdin.close()
            elif fd == 0:
                if 0 <= most <= sent + len(data):
                    os.write(there, data[:most - sent])
                    return 0
                sent += len(data)
                try:
                    # after SIGCONT a write may be partial
                    while data:
                        data = data[os.write(there, data):]
                except OSError:
                    pass
            else:
                for line in data.splitlines(True):
                    lines += line != b'alive\n'
                    if lines == -most:
                        return 0
                    os.write(1, line)
    return child.wait()


if __name__ == '__main__':
    os._exit(main(int(sys.argv[1]), sys.argv[2:]))
