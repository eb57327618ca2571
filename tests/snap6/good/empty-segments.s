# Empty segments first, in the middle and last, a left-justified header behind them.
"process snapshot\n"
justify left
record 10 mem
number 5
segment 0 0
segment 4096 1024
r a
segment 0 0
segment 0xffffffffffffffff 0    # of no page, so it ends nowhere
segment 0 0
record 10 status
data "left"
record 11 text
segment 0 0
record 11 status
data "no text"
