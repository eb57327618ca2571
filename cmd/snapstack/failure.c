/*
 * Handle crashes of libelf and libdw, which read untrusted ELF files and DWARF
 * but were not made for that. The program, which is confined, then exits with
 * status 1 and a message that names the process.
 */
#include "snapstack.h"

#include <signal.h>
#include <unistd.h>

static char message[160];		/* text that on_fault() writes */
static size_t message_len;

static void
on_fault(int sig)
{
	(void)sig;
	if (write(STDERR_FILENO, message, message_len) != (ssize_t)message_len)
		_exit(1);
	_exit(1);
}

/*
 * Blame process pid of a snapshot if the program crashes from now on. Flush
 * standard output first, so that a crash does not lose it.
 */
void
failure_blame(uint64_t pid)
{
	int n;

	fflush(stdout);
	n = snprintf(message, sizeof message, "%s: process %" PRIu64 ": libdw "
	    "crashed: its files in the snapshot are damaged\n",
	    getprogname(), pid);
	message_len = n < 0 ? 0 : (size_t)n;
}

/*
 * Install on_fault() as the handler of fatal signals. Do nothing if
 * AddressSanitizer installs its own.
 */
void
failure_begin(void)
{
#ifndef __SANITIZE_ADDRESS__
	static const int sig[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	static char stack[16 * KB];
	struct sigaction sa = { .sa_handler = on_fault,
	    .sa_flags = SA_ONSTACK };
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof stack };
	size_t i;

	(void)sigaltstack(&ss, NULL);
	for (i = 0; i < sizeof sig / sizeof *sig; i++)
		sigaction(sig[i], &sa, NULL);
#else
	(void)on_fault;
#endif
}
