/*
 * Functions whose names are those of C++ and Rust, as their compilers encode
 * them; the last one waits.  The first name is too long to be decoded.
 */
#include <stdio.h>
#include <unistd.h>

static volatile int counter;

#define FUNCTION(name, symbol, next)					\
	void name(void) __asm__(symbol);				\
	__attribute__((noinline)) void name(void) { next; counter++; }

FUNCTION(last, "_RNvMs0_NtNtNtCsjrHSEGnQ3l9_3std3sys6thread4unixNtB5_6"
    "Thread4join", pause())
FUNCTION(closure, "_RNCNCINvNtNtCsjrHSEGnQ3l9_3std6thread9lifecycle15"
    "spawn_uncheckedNCNvCs6GmmlP4bgsG_1r4main0yEs_00B14_", last())
FUNCTION(output, "_RINvC1a1bDINtC1c2FnuEp6OutputlEL_E", closure())
FUNCTION(trait, "_RNvXsl_NtCsgEmfK2I1SDS_4core5panicINtB5_3FooRShTmeEE"
    "NtB5_3Bar4call", output())
FUNCTION(endless, "_RINvC1a1bKB8_E", trait())
FUNCTION(wrong, "_RNvNvNvC1a", endless())
FUNCTION(legacy, "_ZN41_$LT$a..B$u20$as$u20$core..fmt..Write$GT$9write_str"
    "17h0123456789abcdefE", wrong())
FUNCTION(member, "_ZN6shapes6Square4areaEi", legacy())
/* the demangled form of each type is twice as long as that of the one before */
#define TWICE(n) "S_IS" n "_S" n "_E"
FUNCTION(doubled, "_Z1f1AIiiE" TWICE("0") TWICE("1") TWICE("2") TWICE("3")
    TWICE("4") TWICE("5") TWICE("6") TWICE("7") TWICE("8") TWICE("9")
    TWICE("A") TWICE("B") TWICE("C") TWICE("D") TWICE("E") TWICE("F"),
    member())

int
main(void)
{
	printf("ready\n");
	fflush(stdout);
	doubled();
	return 0;
}
