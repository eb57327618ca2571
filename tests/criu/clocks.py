#!/usr/bin/env python3
# Watch the clocks that a time namespace changes.  Write a line "name count
# wrong" for each to the log; wrong is 1 if the clock went back, or ahead by
# more than a test takes.
import os
import sys
import time

FAR = 100000

os.setsid()
os.closerange(3, 1024)
log = open(sys.argv[1], "a", buffering=1)
clocks = {"monotonic": time.CLOCK_MONOTONIC, "boottime": time.CLOCK_BOOTTIME}
first = {name: time.clock_gettime(c) for name, c in clocks.items()}
last = dict(first)
count = 0
while True:
    count += 1
    for name, c in clocks.items():
        now = time.clock_gettime(c)
        log.write("%s %d %d\n" % (name, count,
                  not last[name] <= now < first[name] + FAR))
        last[name] = now
    time.sleep(0.01)
