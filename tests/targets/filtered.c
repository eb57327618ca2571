/*
 * Threads under seccomp(2), which count while their calls return the errors of
 * their filters: filtered LOG.
 *
 *	first	three filters; of two for one call, the newer one counts
 *	own	a thread with one filter more
 *	common	a process that set a filter for all of its threads at once;
 *		once LOG.more exists, it does so again
 *	strict	a process in strict mode
 *	asks	with a second argument: only a filter that notifies another
 *		process
 */
#include "apart.h"

#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { TSYNC = 1, LOG = 2 };

static char more[200];
static atomic_bool filtered;	/* the filter of common is set */

/*
 * Add a filter with this action for a system call.
 */
static long
filter_add(long number, unsigned int action, unsigned int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0,
		    1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog prog = { sizeof code / sizeof *code, code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static unsigned int
error(unsigned int number)
{
	return SECCOMP_RET_ERRNO | number;
}

static long
call_wrong(long number, int want)
{
	errno = 0;
	return syscall(number, -1, -1, -1, -1, -1) != -1 || errno != want;
}

static long
mode_wrong(const char *want)
{
	char line[128], path[64];
	long wrong;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%ld/status",
	    syscall(SYS_gettid));
	if ((f = fopen(path, "re")) == NULL)
		return 1;
	for (wrong = 1; fgets(line, sizeof line, f) != NULL;)
		if (strncmp(line, "Seccomp_filters:", 16) == 0)
			wrong = strcmp(line + 16, want) != 0;
	fclose(f);
	return wrong;
}

static void *
own(void *arg)
{
	uint64_t n;

	(void)arg;
	must(filter_add(SYS_swapoff, error(9), 0) == 0);
	for (n = 0;; tick())
		tell("own", ++n, call_wrong(SYS_acct, 7) +
		    call_wrong(SYS_swapon, 8) + call_wrong(SYS_swapoff, 9) +
		    mode_wrong("\t4\n"));
	return NULL;
}

static void *
other(void *arg)
{
	uint64_t n;

	(void)arg;
	while (!filtered)
		tick();
	for (n = 0;; tick())
		tell("other", ++n, call_wrong(SYS_acct, 10));
	return NULL;
}

static void
common(void)
{
	pthread_t t;
	uint64_t n;
	bool added;

	must(pthread_create(&t, NULL, other, NULL) == 0);
	must(filter_add(SYS_acct, error(10), TSYNC | LOG) == 0);
	filtered = true;
	for (n = 0, added = false;; tick()) {
		tell("common", ++n, call_wrong(SYS_acct, 10));
		if (added || access(more, F_OK) == -1)
			continue;
		added = true;
		tell("more", 1, filter_add(SYS_swapoff, error(12), TSYNC));
	}
}

static void
strict(int from)
{
	static const char line[] = "strict";
	uint64_t n;
	char c;

	must(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0);
	for (n = 0; read(from, &c, 1) == 1;)
		tell(line, ++n, 0);
	syscall(SYS_exit, 0);
}

int
main(int argc, char *argv[])
{
	pthread_t t;
	uint64_t n;
	int p[2];

	if (argc < 2)
		errx(2, "usage: filtered log [asks]");
	apart(argv[1]);
	snprintf(more, sizeof more, "%s.more", argv[1]);
	must(pipe(p) == 0);
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (argc > 2)
		must(filter_add(SYS_acct, SECCOMP_RET_USER_NOTIF, 0) == 0);
	else if (fork() == 0) {
		close(p[1]);
		strict(p[0]);
	} else if (fork() == 0)
		common();
	must(filter_add(SYS_acct, error(6), 0) == 0);
	must(filter_add(SYS_acct, error(7), LOG) == 0);
	must(filter_add(SYS_swapon, error(8), 0) == 0);
	must(argc > 2 || pthread_create(&t, NULL, own, NULL) == 0);
	for (n = 0;; tick()) {
		tell("first", ++n, argc > 2 ? 0 : call_wrong(SYS_acct, 7) +
		    call_wrong(SYS_swapon, 8) + mode_wrong("\t3\n"));
		must(write(p[1], "", 1) == 1);
	}
}
