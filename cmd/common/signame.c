/*
 * The names of signals.
 */
#include "common.h"

/*
 * Return what kill(1) calls a signal; "-" for one that has no name.
 */
const char *
signal_name(unsigned int sig)
{
	/* of signal(7), "Signal numbering" for most machines */
	static const char *const names[] = {
		"-", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE",
		"KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
		"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
		"URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR",
		"SYS"
	};

	return sig < sizeof names / sizeof *names ? names[sig] : "-";
}
