# A script for gdb that prints the frames of a core: for each thread a line with
# its ID, and for each frame the address, and the source line or 0.
import gdb

gdb.execute("set python print-stack none")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
lines = []
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frames = []
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() == gdb.TAILCALL_FRAME:  # gdb infers it
            frame = frame.older()
            continue
        inlined = frame.type() == gdb.INLINE_FRAME
        sal = frame.find_sal()
        line = sal.line if sal.symtab is not None else 0
        frames.append("%x%s:%d" % (frame.pc(), "i" if inlined else "", line))
        frame = frame.older()
    lines.append((thread.ptid[1], " ".join(frames)))
for tid, text in sorted(lines):
    print("THREAD", tid, text)
