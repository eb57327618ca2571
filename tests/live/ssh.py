#!/usr/bin/env python3
"""ssh - run a command in another network namespace, through TCP

usage: ssh.py NAMESPACE DIRECTORY HOST COMMAND ...

Like ssh(1): a shell there runs the command in DIRECTORY.  Its input and output
go through a connection from 192.0.2.1 to 192.0.2.2.  Exits with its status.
HOST is ignored.
"""

import os
import shutil
import socket
import subprocess
import sys
import threading

there, directory = sys.argv[1:3]
ADDRESS = '192.0.2.2', 4022

# the far end: a listener whose connection is the command's input and output
remote = subprocess.Popen(
    ['nsenter', '--net=' + there, sys.executable, '-c', '''
import socket, subprocess, sys
with socket.create_server(%r) as server:
    print(flush=True)
    peer = server.accept()[0]
sys.exit(subprocess.run(['sh', '-c', sys.argv[1]], stdin=peer, stdout=peer,
                        cwd=sys.argv[2]).returncode)
''' % (ADDRESS,), ' '.join(sys.argv[4:]), directory],
    stdout=subprocess.PIPE)
remote.stdout.readline()
peer = socket.create_connection(ADDRESS, 30)


def send():
    try:
        with peer.makefile('wb') as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        peer.shutdown(socket.SHUT_WR)
    except OSError:
        os.close(0)         # our writer must notice


thread = threading.Thread(target=send, daemon=True)
thread.start()
try:
    with peer.makefile('rb') as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()
except OSError:
    pass
os._exit(remote.wait())
