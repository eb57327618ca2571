/*
 * The names of signals.
 */
#include "signame.h"

#include <stddef.h>

/*
 * Return what kill(1) calls a signal, without SIG; NULL for one that has no
 * name.  sig is its number on most machines, x86 and ARM among them: signal(7),
 * "Signal numbering for standard signals".
 */
const char *
signal_name(uint64_t sig)
{
	static const char *const names[] = {
		NULL, "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE",
		"KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
		"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
		"URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR",
		"SYS"
	};

	return sig < sizeof names / sizeof *names ? names[sig] : NULL;
}
