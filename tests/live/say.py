# What gdb says about a core of a program: which thread is the current one, its
# signal, and of each thread, by number, all registers and the stack, of which
# SAY_FRAMES of the environment are the outermost if it is set.
import os

import gdb

frames = os.environ.get('SAY_FRAMES', '')
frames = frames and '-' + frames
gdb.execute('thread')
gdb.execute('print $_siginfo')
gdb.execute('info auxv')
for thread in sorted(gdb.selected_inferior().threads(),
                     key=lambda thread: thread.ptid):
    thread.switch()
    print(thread.ptid)
    gdb.execute('info all-registers')
    gdb.execute('backtrace ' + frames)
