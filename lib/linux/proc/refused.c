/*
 * Explain why access to a process is denied: ptrace(2), "Ptrace access mode
 * checking".
 */
#include "proc.h"

#include <unistd.h>

enum { CAP_SYS_PTRACE = 19 };	/* linux/capability.h */

#define USERS_FIRST UINT64_C(4026531837) /* PROC_USER_INIT_INO of
					    linux/proc_ns.h */

/*
 * Return true if we have CAP_SYS_PTRACE in our user namespace.
 */
bool
proc_ismighty(void)
{
	struct bytes b;
	uint64_t caps;

	if (proc_read(getpid(), 0, "status", &b) == -1)
		return geteuid() == 0;
	caps = status_first(b.data, b.len, "CapEff", 16);
	free(b.data);
	return (caps & UINT64_C(1) << CAP_SYS_PTRACE) != 0;
}

/*
 * Return the number in the file at path, such as a setting of the kernel, or
 * the argument absent if there is no such file. 4294967295 is the same as -1.
 */
int
proc_setting(const char *path, int absent)
{
	intmax_t n;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return absent;
	if (fscanf(f, "%jd", &n) != 1)
		n = absent;
	fclose(f);
	return (int)n;
}

/*
 * Return true if we are in a user namespace other than the initial one, and
 * process pid is not in the same one.
 */
static bool
is_outside(pid_t pid)
{
	const uint64_t ours = ns_number(getpid(), "user");

	return ours != 0 && ours != USERS_FIRST &&
	    ours != ns_number(pid, "user");
}

/*
 * Set errstr to say why the kernel denied access to process pid (EPERM or
 * EACCES), and how to get access. User names are not looked up, because the
 * name server may be stopped by us. Return -1.
 */
int
proc_refused(pid_t pid)
{
	const long uid = proc_status(pid, 0, "Uid");
	/* Documentation/admin-guide/LSM/Yama.rst */
	const int scope = proc_setting("/proc/sys/kernel/yama/ptrace_scope",
	    0);
	char path[64], user[32] = "root";
	struct stat st;

	if (scope > 2)
		return errstr_set("process %d cannot be traced: "
		    "kernel.yama.ptrace_scope is %d, which only a reboot can "
		    "lower",
		    pid, scope);
	if (geteuid() == 0 && is_outside(pid))
		return errstr_set("process %d is outside of your user "
		    "namespace: run as root outside of that namespace, or as "
		    "the user of the process", pid);
	if (proc_ismighty())
		return errstr_set("process %d: not even root may trace it "
		    "here: a security module or a seccomp filter forbids it",
		    pid);
	if (geteuid() == 0)
		return errstr_set("process %d: root may not trace it without "
		    "CAP_SYS_PTRACE, which is missing here", pid);
	if (uid != (long)geteuid()) {
		if (uid != 0)
			snprintf(user, sizeof user, "user %ld", uid);
		return errstr_set("process %d belongs to %s: run as root, or "
		    "as that user", pid, user);
	}
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (stat(path, &st) == 0 && st.st_uid != geteuid())
		return errstr_set("process %d is not dumpable (set-user-ID, or "
		    "prctl(2)): run as root", pid);
	if (scope > 0)
		return errstr_set("process %d: kernel.yama.ptrace_scope is %d: "
		    "run as root, or set it to 0", pid, scope);
	return errstr_set("process %d: no permission to trace it: it may have "
	    "changed its user, or its executable is not readable: run as root",
	    pid);
}
