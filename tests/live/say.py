# Print what gdb finds in a core: the current thread, its signal, and for each
# thread, by ID, all registers and the stack, limited to the outermost
# SAY_FRAMES frames if that is in the environment.
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
    gdb.execute('print $pc')    # a warning about the registers comes now
    # "info all-registers" takes five times as long, and gdb writes each
    # field by itself if it does not return a string
    print(gdb.execute('maintenance print raw-registers', to_string=True))
    gdb.execute('backtrace ' + frames)
