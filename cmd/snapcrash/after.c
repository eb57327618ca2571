/*
 * Work done after a snapshot was made: write the log, let its user read it, and
 * run the hook. Nobody sees the handler's standard error, so it is copied into
 * the log.
 */
#include "crash.h"
#include "model.h"

#include <sys/mman.h>
#include <sys/xattr.h>

#include <fcntl.h>
#include <signal.h>
#include <syslog.h>
#include <unistd.h>

enum {
	SAID_LINES = 20,	/* maximum number of lines of standard error in
				   the log */
	FRAMES = 4,		/* maximum number of frames in the log */
	STACK_SECONDS = 60,	/* time limit for snapstack */
	STACK_MEMORY = 1 << 29,	/* its limit on memory in bytes: a user can
				   crash crafted programs, several at once,
				   and four functions need no more */
	HOOK_SECONDS = 3600	/* time limit for the hook, and for the wait
				   until it may run */
};

/*
 * Copy the first SAID_LINES lines of standard error to the log. Standard error
 * must be the file into which messages were collected.
 */
static void
said_log(void)
{
	char line[1024];
	FILE *f;
	int i;

	if (lseek(STDERR_FILENO, 0, SEEK_SET) == -1 ||
	    (f = fdopen(STDERR_FILENO, "r")) == NULL)
		return;
	for (i = 0; i < SAID_LINES && fgets(line, sizeof line, f) != NULL;
	    i++) {
		line[strcspn(line, "\n")] = '\0';
		syslog(LOG_WARNING, "%s", text_sanitize(line));
	}
}

/*
 * From now on, collect everything written to standard error, for the log.
 * However, if standard error was open already, somebody is watching: leave it
 * as it is, and copy the log to it.
 */
void
take_begin(void)
{
	const bool alone = fcntl(STDERR_FILENO, F_GETFD) == -1;
	int fd;

	openlog("snapcrash", LOG_PID | (alone ? 0 : LOG_PERROR), LOG_DAEMON);
	program_descriptors();
	if (!alone || (fd = memfd_create("said", MFD_CLOEXEC)) == -1 ||
	    dup2(fd, STDERR_FILENO) == -1)
		return;
	close(fd);
	(void)atexit(said_log);
}

/*
 * Return true if line, printed by snapstack(1), is the heading of the crashed
 * thread. In this case, store the ID of the thread in f, and also the signal,
 * unless f already has it from the kernel.
 */
static bool
heading_read(struct crashing *f, const char *line)
{
	const char *after = strstr(line, "), SIG"), *known;
	char name[16];
	int i, tid;

	if (after == NULL || sscanf(line, "thread %d (", &tid) != 1 ||
	    sscanf(after, "), SIG%15[A-Z0-9]", name) != 1)
		return false;
	f->tid = tid;
	for (i = 1; f->signal == 0 && i < NSIG; i++)
		if ((known = signal_name((uint64_t)i)) != NULL &&
		    strcmp(known, name) == 0)
			f->signal = i;
	return true;
}

/*
 * Write the FRAMES innermost functions of the crashed thread of f, innermost
 * first, to s, which has room for size bytes. Put a separator before each, and
 * a question mark before a guess. Set s to "" if the functions cannot be
 * determined. name is the snapshot file. If f->tid is 0, set f->tid from the
 * output of snapstack, and also f->signal if that is 0.
 */
void
frames_text(struct crashing *f, const char *name, char *s, size_t size)
{
	const int fd[3] = { open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC),
	    memfd_create("stack", MFD_CLOEXEC), -1 };
	char line[512], num[16], *frame, *words[] = { NULL,
	    (char *)(uintptr_t)(f->tid == 0 ? "-ap" : "-T"), num,
	    (char *)(uintptr_t)"-", NULL };
	bool fell = f->tid != 0;
	FILE *in = NULL;
	uint64_t was;
	int n;

	*s = '\0';
	snprintf(num, sizeof num, "%d", f->tid == 0 ? f->pid : f->tid);
	was = program_memory(STACK_MEMORY);
	if (fd[0] != -1 && fd[1] != -1 &&
	    (words[0] = program_beside("snapstack")) != NULL &&
	    program_wait(program_start(words, fd, true),
	    STACK_SECONDS) != -1 && lseek(fd[1], 0, SEEK_SET) == 0)
		in = fdopen(fd[1], "r");
	(void)program_memory(was);
	for (n = 0; in != NULL && n < FRAMES &&
	    fgets(line, sizeof line, in) != NULL;) {
		frame = line + strspn(line, " ");
		if (*frame != '#' || !fell) {
			fell = fell ? n == 0 : heading_read(f, line);
			continue;
		}
		frame += strcspn(frame, " ");
		frame += strspn(frame, " ");
		strlcat(s, n++ == 0 ? " in " : " < ", size);
		if (*frame == '?') {
			strlcat(s, "?", size);
			frame += strspn(frame, "? ");
		}
		frame[strcspn(frame, " \n")] = '\0';
		strlcat(s, text_sanitize(frame), size);
	}
	if (in != NULL)
		fclose(in);
	else if (fd[1] != -1)
		close(fd[1]);
	fd_drop(fd[0]);
	free(words[0]);
}

/*
 * Let user uid read file name, which root owns. Do so by setting the file's
 * access control list (acl(5)). See linux/posix_acl_xattr.h for the format.
 */
void
owner_allow(const char *name, uid_t uid)
{
	struct {
		uint32_t	 version;
		struct {
			uint16_t	 tag, perm;
			uint32_t	 id;
		} entry[5];
	} acl = { 2, {
		{ 0x01, 6, UINT32_MAX },	/* ACL_USER_OBJ: owner */
		{ 0x02, 4, uid },
		{ 0x04, 0, UINT32_MAX }, /* ACL_GROUP_OBJ: owning group */
		{ 0x10, 4, UINT32_MAX },	/* ACL_MASK; see acl(5) */
		{ 0x20, 0, UINT32_MAX },	/* ACL_OTHER: all other users */
	} };

	if (setxattr(name, "system.posix_acl_access", &acl, sizeof acl,
	    0) == -1)
		syslog(LOG_WARNING, "%s: cannot give user %u read access: %m",
		    name, uid);
}

/*
 * Run the hook of configuration c with the path of snapshot name as its
 * argument. name begins with "./". The hook may run for a long time, so the
 * caller must not hold a lock that other crashes wait for.
 */
void
hook_run(const struct config *c, const char *name)
{
	char path[PATH_MAX + 80];
	char *argv[] = { (char *)(uintptr_t)c->hook, path, NULL };
	int rc, claim;

	if ((claim = claim_turn(c, "hook", "hooking", HOOK_SECONDS)) < 0) {
		syslog(LOG_WARNING,
		    "hook %s not run for %s: %s", c->hook, name + 2,
		    snap_errstr());
		return;
	}
	snprintf(path, sizeof path, "%s/%s", c->directory, name + 2);
	rc = program_wait(program_start(argv, NULL, false), HOOK_SECONDS);
	if (rc > 0)
		syslog(LOG_WARNING, "hook %s: exit status %d", c->hook, rc);
	close(claim);
}

