/*
 * What the kernel runs when a process crashes: core(5), core_pattern.  The
 * process stays as it fell until nobody reads from the pipe any more, and who
 * waits for it waits so long.  So it is taken into a spool first, as fast as
 * memory is read; it is let go, and then the spool is compressed.
 */
#include "crash.h"
#include "vec.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

enum {				/* in the log: */
	SAID_LINES = 20,	/* of what snap says */
	FRAMES = 4		/* of the thread that fell */
};

struct falling {		/* a process that dumps core */
	pid_t		 pid;
	pid_t		 tid;	/* the thread that fell */
	unsigned int	 signal;
	int		 dumpable; /* core(5), %d */
	uid_t		 uid;
	char		 name[17];
	char		 id[64];	/* NAME.PID.TIME */
	int		 pidfd;
	int		 said;	/* a file with what snap says */
	int		 spool;
};

/*
 * Return a number of the kernel's, at the exit of the program if it is none.
 */
static long
number(const char *s)
{
	const char *bad;
	long n;

	n = (long)strtonum(s, 0, INT_MAX, &bad);
	if (bad != NULL)
		errx(2, "take %s: %s", s, bad);
	return n;
}

/*
 * Return the number of the process that the descriptor of one means: pidfd_open
 * (2); -1 if it means none.
 */
static long
pidfd_number(int fd)
{
	char path[64], line[128];
	long pid;
	FILE *f;

	pid = -1;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	if ((f = fopen(path, "re")) == NULL)
		return -1;
	while (pid == -1 && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Pid: %ld", &pid) != 1)
			pid = -1;
	fclose(f);
	return pid;
}

/*
 * Learn what process this is: words are what core_pattern has, %P %I %s %d
 * %u and, since Linux 6.16, %F, the descriptor of the process.  Nothing is
 * taken from a process that has got the same number.
 */
static int
falling_learn(struct falling *f, char *const words[])
{
	char path[64], *s;
	FILE *in;
	int i;

	for (i = 0; i < 5; i++)
		if (words[i] == NULL)
			return errstr_set("take: that is for the kernel: "
			    "snapcrash install");
	f->pid = (pid_t)number(words[0]);
	f->tid = (pid_t)number(words[1]);
	f->signal = (unsigned int)number(words[2]);
	f->dumpable = (int)number(words[3]);
	f->uid = (uid_t)strtoul(words[4], NULL, 10);
	f->pidfd = words[5] != NULL ? (int)number(words[5]) :
	    (int)syscall(SYS_pidfd_open, f->pid, 0);
	if (pidfd_number(f->pidfd) != f->pid)
		return errstr_set("process %d is gone", f->pid);
	snprintf(path, sizeof path, "/proc/%d/comm", f->pid);
	if ((in = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	if (fgets(f->name, sizeof f->name, in) == NULL)
		strlcpy(f->name, "unknown", sizeof f->name);
	fclose(in);
	f->name[strcspn(f->name, "\n")] = '\0';
	for (s = f->name; *s != '\0'; s++)
		if (strchr("abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+", *s) == NULL)
			*s = '_';
	snprintf(f->id, sizeof f->id, "%s.%d.%jd", f->name, f->pid,
	    (intmax_t)time(NULL));
	return 0;
}

/*
 * Add a word to the command line of a program.
 */
static void __attribute__((format(printf, 3, 4)))
word(char ***v, size_t *n, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) == -1 || VEC_ROOM(*v, *n) == -1)
		err(1, NULL);
	va_end(ap);
	(*v)[(*n)++] = s;
}

static char *const *
words_end(char ***v, size_t *n)
{
	if (VEC_ROOM(*v, *n) == -1)
		err(1, NULL);
	(*v)[*n] = NULL;
	return *v;
}

static void
words_free(char **v, size_t n)
{
	while (n > 0)
		free(v[--n]);
	free(v);
}

/*
 * Return the number of the parent of a process; 0 where there is none but init.
 */
static long
parent_of(pid_t pid)
{
	char path[64], line[256];
	long ppid;
	FILE *f;

	ppid = 0;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "PPid: %ld", &ppid) == 1)
			break;
	fclose(f);
	return ppid > 1 ? ppid : 0;
}

/*
 * Add the cgroup of a process, as snap -c takes it, but not that of all.
 */
static void
cgroup_word(char ***v, size_t *n, pid_t pid)
{
	char path[64], line[PATH_MAX + 32];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	if ((f = fopen(path, "re")) == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) == 0 && line[4] != '\0')
			word(v, n, "-c%s", line + 3);
	}
	fclose(f);
}

/*
 * Choose how the process is taken: with whom, and without what there is no
 * room for.  Return the command line, which ends with NULL and has *n words.
 */
static char **
take_words(const struct config *c, const struct falling *f, uint64_t room,
    const struct space *sp, size_t *n)
{
	char **v = NULL, *snap;
	long ppid;

	if ((snap = program_beside("snap")) == NULL)
		errx(1, "there is no snap beside it");
	*n = 0;
	word(&v, n, "%s", snap);
	free(snap);
	word(&v, n, "--core");
	word(&v, n, "-msignal %u", f->signal);
	if (sp != NULL)
		leave_choose(sp, room, &v, n);
	if (c->kin == KIN_CHILDREN || c->kin == KIN_PARENT)
		word(&v, n, "-r");
	if (c->kin == KIN_CGROUP)
		cgroup_word(&v, n, f->pid);
	word(&v, n, "%d", f->pid);
	if (c->kin == KIN_PARENT && (ppid = parent_of(f->pid)) != 0)
		word(&v, n, "%ld", ppid);
	(void)words_end(&v, n);
	return v;
}

/*
 * Return the descriptor of a new file that has no name, so that nothing is
 * left of it when we are killed; in the current directory, or in memory.
 */
static int
nameless(bool memory)
{
	char name[] = ".spool.XXXXXX";
	int fd;

	if (memory)
		return memfd_create("said", MFD_CLOEXEC);
	fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd == -1 && (fd = mkostemp(name, O_CLOEXEC)) != -1)
		(void)unlink(name);
	return fd;
}

/*
 * Put into the log what a program has said.
 */
static void
said_log(int fd)
{
	char line[1024];
	FILE *f;
	int i;

	if (lseek(fd, 0, SEEK_SET) == -1 || (f = fdopen(fd, "r")) == NULL)
		return;
	for (i = 0; i < SAID_LINES && fgets(line, sizeof line, f) != NULL;
	    i++) {
		line[strcspn(line, "\n")] = '\0';
		syslog(LOG_WARNING, "%s", text_harmless(line));
	}
	fclose(f);
}

/*
 * Take the process into the spool, and let it go.  Return 0, or -1 with errstr.
 */
static int
spool_take(const struct config *c, struct falling *f, struct crashes *l)
{
	const int fd[3] = { STDIN_FILENO, f->spool, f->said };
	struct space sp = { 0 };
	uint64_t need, room;
	bool known;
	char **v;
	size_t n;
	pid_t pid;
	int rc;

	known = space_live(&sp, f->pid) == 0;
	need = known ? leave_need(&sp) : 0;
	room = store_room(c, l, need);
	v = take_words(c, f, room, known ? &sp : NULL, &n);
	if ((pid = program_start(v, fd)) == -1)
		rc = -1;
	else if ((rc = program_wait(pid)) > 1)
		rc = errstr_set("snap failed: %d", rc);
	/* with 1 something is missing, or all */
	else if (lseek(f->spool, 0, SEEK_END) <= 0)
		rc = errstr_set("nothing could be taken");
	else
		rc = 0;
	words_free(v, n);
	space_free(&sp);
	/* now the kernel lets it go */
	(void)dup2(f->said, STDIN_FILENO);
	if (f->pidfd > STDERR_FILENO)
		close(f->pidfd);
	return rc;
}

/*
 * Make the snapshot of the spool: whole, on the disk, with its name.
 */
static int
spool_pack(const struct falling *f, const char *name)
{
	const int fd[3] = { f->spool, -1, f->said };
	char *argv[] = { NULL, (char *)(uintptr_t)"-zo",
	    (char *)(uintptr_t)name, (char *)(uintptr_t)"-", NULL };
	pid_t pid;
	int rc;

	if ((argv[0] = program_beside("snapcat")) == NULL)
		return errstr_set("there is no snapcat beside it");
	rc = -1;
	errno = 0;
	(void)!nice(10);	/* what is up again comes first */
	if (lseek(f->spool, 0, SEEK_SET) == 0 &&
	    (pid = program_start(argv, fd)) != -1)
		rc = (rc = program_wait(pid)) == 0 ? 0 :
		    errstr_set("snapcat failed: %d", rc);
	free(argv[0]);
	return rc;
}

/*
 * Set s to the first functions of the stack of the thread that fell, the inner
 * ones first, each behind a separator; to nothing where that cannot be told.
 */
static void
frames_text(const struct falling *f, const char *name, char *s, size_t size)
{
	const int fd[3] = { STDIN_FILENO, nameless(true), STDERR_FILENO };
	char line[512], num[16], *words[] = { NULL, (char *)(uintptr_t)"-t",
	    num, (char *)(uintptr_t)name, NULL };
	char *frame, *end;
	pid_t pid;
	FILE *in;
	int n;

	*s = '\0';
	snprintf(num, sizeof num, "%d", f->tid);
	if (fd[1] == -1 || (words[0] = program_beside("snapstack")) == NULL ||
	    (pid = program_start(words, fd)) == -1)
		return;
	(void)program_wait(pid);
	if (lseek(fd[1], 0, SEEK_SET) == -1 ||
	    (in = fdopen(fd[1], "r")) == NULL)
		return;
	for (n = 0; n < FRAMES && fgets(line, sizeof line, in) != NULL;) {
		frame = line + strspn(line, " ");
		if (*frame != '#')
			continue;
		frame += strcspn(frame, " ");
		frame += strspn(frame, " ");
		end = frame + strcspn(frame, " \n");
		*end = '\0';
		strlcat(s, n++ == 0 ? " in " : " < ", size);
		strlcat(s, text_harmless(frame), size);
	}
	fclose(in);
	free(words[0]);
}

/*
 * Let user uid read a file of root's, by an entry in its access control list:
 * acl(5), in the form of linux/posix_acl_xattr.h.
 */
static void
owner_allow(const char *name, uid_t uid)
{
	struct {
		uint32_t	 version;
		struct {
			uint16_t	 tag, perm;
			uint32_t	 id;
		} entry[5];
	} acl = { 2, {
		{ 0x01, 6, UINT32_MAX },	/* the owner */
		{ 0x02, 4, uid },
		{ 0x04, 0, UINT32_MAX },	/* the group */
		{ 0x10, 4, UINT32_MAX },	/* the mask */
		{ 0x20, 0, UINT32_MAX },	/* others */
	} };

	if (setxattr(name, "system.posix_acl_access", &acl, sizeof acl,
	    0) == -1)
		syslog(LOG_WARNING, "%s: user %u cannot be let read it: %m",
		    name, uid);
}

/*
 * Run the administrator's command.
 */
static void
hook_run(const struct config *c, const char *name)
{
	char path[PATH_MAX + 80];
	char *argv[] = { (char *)(uintptr_t)c->hook, path, NULL };
	pid_t pid;
	int rc;

	if (*c->hook == '\0')
		return;
	snprintf(path, sizeof path, "%s/%s", c->directory, name);
	if ((pid = program_start(argv, NULL)) != -1 &&
	    (rc = program_wait(pid)) != 0)
		syslog(LOG_WARNING, "%s: exit status %d", c->hook, rc);
}

/*
 * Take the process that dumps core into standard input, whose words the kernel
 * has given.  Return the exit status; what is wrong goes into the log, for
 * nobody sees what is printed.
 */
int
crash_take(const struct config *c, char *const argv[])
{
	struct falling f = { .pid = -1 };
	struct crashes l = { 0 };
	char name[80], what[128], frames[512];
	int rc;

	openlog("snapcrash", LOG_PID | LOG_PERROR, LOG_DAEMON);
	umask(S_IRWXG | S_IRWXO);
	program_descriptors();
	rc = falling_learn(&f, argv);
	if (rc == 0)
		rc = store_open(c);
	if (rc == 0 && ((f.said = nameless(true)) == -1 ||
	    (f.spool = nameless(false)) == -1))
		rc = errstr_sys("%s", c->directory);
	if (rc == 0 && (rc = store_read(c, &l)) == 0)
		rc = spool_take(c, &f, &l);
	snprintf(name, sizeof name, "%s.snap.gz", f.id);
	if (rc == 0)
		rc = spool_pack(&f, name);
	store_free(&l);
	signal_text(f.signal, what, sizeof what);
	if (rc == 0) {
		if (c->owner && f.dumpable == 1)
			owner_allow(name, f.uid);
		frames_text(&f, name, frames, sizeof frames);
		syslog(LOG_CRIT, "process %d (%s) of user %u crashed: %s%s: "
		    "%s/%s", f.pid, f.name, f.uid, what, frames, c->directory,
		    name);
	} else
		syslog(LOG_CRIT, "process %d (%s) crashed: %s: no snapshot: "
		    "%s", f.pid, f.name, what, snap_errstr());
	if (f.said > 0)
		said_log(f.said);
	if (rc == 0)
		hook_run(c, name);
	return rc == 0 ? 0 : 1;
}
