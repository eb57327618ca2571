#!/usr/bin/env python3
"""watch - run a program that takes long, and save its messages

usage: watch.py [-t] [-i FILE] [-o FILE] [-p UNTIL] [-u UNTIL] ERR COMMAND

Standard error is a pipe, or with -t a terminal; its contents are written to the
file ERR.  With -i, standard input is a pipe that gets half of FILE at once and
the rest after a pause (-p, 2 seconds).  With -o, standard output is a pipe that
is read to FILE after a pause that begins when data arrives.  With -u, SIGUSR1
is sent after the pause began.  UNTIL is a number of seconds to wait, or a file
to wait for.  Exits with the status of the command.
"""

import getopt
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time

opts, args = getopt.getopt(sys.argv[1:], 'ti:o:p:u:')
opts = dict(opts)
pause = opts.get('-p', '2')
paused = threading.Event()


def wait(until):
    if '/' not in until:
        time.sleep(float(until))
        return
    while not os.path.exists(until):
        time.sleep(0.02)


def collect(fd, path, until=None):
    if until:
        # on a busy machine it takes a while to begin
        select.select([fd], [], [])
        paused.set()
        wait(until)
    with open(path, 'wb') as file:
        while True:
            try:
                data = os.read(fd, 65536)
            except OSError:         # the terminal is closed
                data = b''
            if not data:
                break
            file.write(data)
            file.flush()


def feed(file, path):
    with open(path, 'rb') as source:
        data = source.read()
    try:
        file.write(data[:len(data) // 2])
        file.flush()
        paused.set()
        wait(pause)
        file.write(data[len(data) // 2:])
        file.close()
    except BrokenPipeError:
        paused.set()


threads = []


def start(function, *rest):
    threads.append(threading.Thread(target=function, args=rest))
    threads[-1].start()


ours, theirs = pty.openpty() if '-t' in opts else os.pipe()
child = subprocess.Popen(
    args[1:], stderr=theirs,
    stdin=subprocess.PIPE if '-i' in opts else subprocess.DEVNULL,
    stdout=subprocess.PIPE if '-o' in opts else subprocess.DEVNULL)
os.close(theirs)
start(collect, ours, args[0])
if '-i' in opts:
    start(feed, child.stdin, opts['-i'])
if '-o' in opts:
    start(collect, child.stdout.fileno(), opts['-o'], pause)
if '-u' in opts:
    paused.wait()
    wait(opts['-u'])
    child.send_signal(signal.SIGUSR1)
status = child.wait()
for thread in threads:
    thread.join()
sys.exit(status if status >= 0 else 128 - status)
