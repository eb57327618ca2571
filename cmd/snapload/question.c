/*
 * Check the question of a move: whether the far side has what the processes
 * need, before the near side stops them.
 */
#include "receive.h"

#include "common/common.h"

#include <sys/statvfs.h>

#include <unistd.h>

enum { MAX_QUESTION = 64 << 20 }; /* maximum length of a question, in bytes */

/*
 * Check that no process or thread has the ID pid. Return 0, or -1 with errstr
 * set to a sentence that names it. If it is a zombie, also name its parent.
 */
static int
pid_check(int pid)
{
	struct task t, parent;

	if (proc_stat(pid, 0, &t) == -1)
		return 0;
	if (t.state != 'Z' || proc_stat(t.ppid, 0, &parent) == -1)
		return errstr_set("the process ID %d is in use by %s", pid,
		    t.comm);
	return errstr_set("the process ID %d is in use by %s, a zombie: its "
	    "parent, process %d (%s), has not waited for it", pid, t.comm,
	    t.ppid, parent.comm);
}

/*
 * Check that this machine has what line, a line of the question, asks for: free
 * space, an unused process ID, or a file. Return 0, or -1 with errstr set if it
 * does not.
 */
static int
line_check(struct receiving *r, const char *line)
{
	struct statvfs v;
	uint64_t kb;
	int pid;

	if (sscanf(line, "memory %" SCNu64, &kb) == 1) {
		if (statvfs(r->dir, &v) == -1)
			return errstr_sys("%s", r->dir);
		if ((uint64_t)v.f_bavail * v.f_frsize / KB < kb)
			return errstr_set("%s: the images need %ju MiB, and "
			    "%ju MiB are free", r->dir, kb / KB,
			    (uint64_t)v.f_bavail * v.f_frsize / KB / KB);
		return 0;
	}
	if (sscanf(line, "pid %d", &pid) == 1)
		return pid_check(pid);
	/* a file name may have any bytes but a newline */
	if (strncmp(line, "file ", 5) == 0)
		return access(line + 5, F_OK) == 0 ? 0 : errstr_sys("%s",
		    line + 5);
	return errstr_set("standard input: expected a question, found "
	    "\"%.40s\"", line);
}

/*
 * Return 0 if criu(8) is installed, or -1 with errstr set.
 */
static int
criu_find(void)
{
	FILE *f;
	char line[80];
	bool is;

	if ((f = popen("exec criu --version 2>/dev/null", "re")) == NULL)
		return errstr_sys("criu");
	is = fgets(line, sizeof line, f) != NULL;
	return pclose(f) == 0 && is ? 0 : errstr_set("criu(8) is not "
	    "installed, or does not run");
}

/*
 * Read the question from standard input, up to an empty frame, and append it to
 * b with a NUL at its end. Return 0, or -1 with errstr set.
 */
static int
question_read(struct receiving *r, struct buf *b)
{
	char letter;
	size_t n;
	int rc;

	do {
		rc = frame_read(STDIN_FILENO, &letter, r->data, &n);
		if (rc == -1)
			return -1;
		if (rc == 0 || letter != FRAME_QUESTION ||
		    b->len > MAX_QUESTION)
			return errstr_set("standard input: expected a "
			    "question of snap --to");
		buf_add(b, r->data, n);
	} while (n > 0);
	buf_add(b, "", 1);
	return buf_check(b);
}

/*
 * Read the question, and check that criu(8) and all that the question asks for
 * are here. Return 0, or -1 with errstr set.
 */
int
question_check(struct receiving *r)
{
	struct buf b = { 0 };
	char *line, *next;
	int rc;

	if ((rc = question_read(r, &b)) == 0)
		rc = criu_find();
	r->canlazy = rc == 0 && system("exec criu check --feature "
	    "uffd-noncoop >/dev/null 2>&1") == 0;
	if (rc == 0 && getpid() == 1)
		rc = errstr_set("snapload is the init of a PID namespace, and "
		    "the processes would end with it");
	for (line = (char *)b.data; rc == 0 && *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		if (*next != '\0')
			*next++ = '\0';
		rc = line_check(r, line);
	}
	buf_free(&b);
	return rc;
}
