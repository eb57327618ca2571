/*
 * What the kernel runs when a process crashes: core(5), core_pattern.  The
 * process stays as it fell until nobody reads from the pipe any more, and who
 * waits for it waits so long.  So it is taken into a spool first, as fast as
 * memory is read; it is let go, and then the spool is compressed.
 */
#include "crash.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

enum {
	TAKE_SECONDS = 600,	/* until who fell is let go, taken or not */
	PACK_SECONDS = 3600,
	MARGIN = 64 << 20	/* bytes: files that are carried along */
};

static const uint64_t room_least = 1 << 20;	/* bytes: for less, none is
						   taken */

/*
 * Return the descriptor of a new file in the current directory that has no
 * name, so that nothing is left of it when we are killed; -1 with errno.
 */
static int
spool_new(void)
{
	char name[] = ".spool.XXXXXX";
	int fd;

	fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd == -1 && (fd = mkostemp(name, O_CLOEXEC)) != -1)
		(void)unlink(name);
	return fd;
}

struct taking {			/* a process, into the spool */
	const struct config *c;
	struct crashes	*l;	/* those that there are */
	const struct space *sp;	/* its memory; NULL if that is not known */
	uint64_t	 whose;	/* the user that it counts for */
	uint64_t	 room;	/* bytes that may be kept of it, */
	uint64_t	 spool;	/* and that the spool may have */
};

/*
 * Choose how large it may be: as it is, where that is known, and where others
 * are taken with it, who knows.  Others who are at work have their part of the
 * room, too.  Return 0, or -1 with errstr.
 */
static int
room_choose(struct taking *t, const struct reserved *others)
{
	uint64_t need, disk, most;

	if (store_read(t->c, t->l) == -1)
		return -1;
	need = t->sp == NULL ? 0 : space_takes(t->sp);
	t->room = store_room(t->c, t->l, t->whose, need, others, &disk);
	most = need + need / 8 + MARGIN;
	if (t->sp == NULL || t->c->companions != WITH_NONE)
		most = most > t->room / 2 ? most : t->room / 2;
	if (t->room > most)
		t->room = most;
	t->spool = t->room + MARGIN < disk - t->room ? t->room + MARGIN :
	    disk - t->room;
	return t->room >= room_least ? 0 :
	    errstr_set("there is no room in %s", t->c->directory);
}

/*
 * Set word to an option of snap(1) which takes the cgroup of a process; "" for
 * that of all.
 */
static void
cgroup_option(pid_t pid, char *word, size_t size)
{
	char path[64], group[PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	*word = '\0';
	if (file_line(path, "0:", group, sizeof group) &&
	    strcmp(group, "/") != 0)
		snprintf(word, size, "-c%s", group);
}

/*
 * Run snap(1) with the spool as its standard output: it takes the process with
 * those that t wants beside it, or without what there is no room for.  Return
 * 0, or -1 with errstr.
 */
static int
snap_run(const struct taking *t, const struct crashing *f, int spool)
{
	const int fd[3] = { STDIN_FILENO, spool, -1 };
	/* who is alive would lack the same addresses */
	const bool less = t->sp != NULL && space_takes(t->sp) > t->room;
	const enum companions with = less ? WITH_NONE : t->c->companions;
	char signum[24], most[40], group[PATH_MAX + 2], own[16], parent[24];
	char *v[10], **word = v;
	pid_t pid;
	long ppid;
	int rc;

	/* Debian's name: snap beside it is snapd's there */
	if ((*word = program_beside("psnap")) == NULL &&
	    (*word = program_beside("snap")) == NULL)
		errx(1, "there is no snap beside it");
	*++word = (char *)(uintptr_t)"--core";
	snprintf(signum, sizeof signum, "-msignal %d", f->signal);
	if (f->signal != 0)
		*++word = signum;
	if (!t->c->dontdump)
		*++word = (char *)(uintptr_t)"-xdontdump";
	snprintf(most, sizeof most, "--most=%ju", (uintmax_t)t->room);
	if (less)
		*++word = most;
	if (with == WITH_CHILDREN || with == WITH_PARENT)
		*++word = (char *)(uintptr_t)"-r";
	cgroup_option(f->pid, group, sizeof group);
	if (with == WITH_CGROUP && *group != '\0')
		*++word = group;
	snprintf(own, sizeof own, "%d", f->pid);
	*++word = own;
	if (with == WITH_PARENT && (ppid = crashing_parent(f)) != 0) {
		snprintf(parent, sizeof parent, "%ld", ppid);
		*++word = parent;
	}
	*++word = NULL;
	files_limit(t->spool);
	if ((pid = program_start(v, fd)) == -1)
		rc = -1;
	else if ((rc = program_wait(pid, TAKE_SECONDS)) > 1)
		rc = errstr_set("snap failed: %d", rc);
	/* with 1 something is missing, or all */
	else if (lseek(spool, 0, SEEK_END) <= 0)
		rc = errstr_set("nothing could be taken");
	else
		rc = 0;
	free(v[0]);
	return rc;
}

/*
 * Take the process into the spool.  Return 0, or -1 with errstr, also where it
 * is not sure that it was this process all the time.
 */
static int
spool_take(const struct config *c, struct crashing *f, int spool,
    const struct claim *claim, uint64_t *room)
{
	struct crashes l = { 0 };
	struct space sp = { 0 };
	struct taking t = { .c = c, .l = &l, .whose = f->whose };
	struct reserved others;
	int lock, rc = -1;

	if (space_live(&sp, f->pid, false) == 0)
		t.sp = &sp;
	if ((lock = claim_lock(claim, &others)) != -1) {
		rc = room_choose(&t, &others);
		claim_unlock(claim, lock, rc == 0 ? t.room : 0,
		    rc == 0 ? t.room + t.spool : 0);
	}
	if (rc == 0)
		rc = snap_run(&t, f, spool);
	if (rc == 0 && !crashing_same(f))
		rc = errstr_set("it was killed meanwhile");
	*room = t.room;
	store_free(&l);
	space_free(&sp);
	return rc;
}

/*
 * Compress the spool into a file, by who can do nothing but that.  Return 0, or
 * -1 with errstr.
 */
static int
snapcat_run(int spool, int file, uint64_t room)
{
	const int fd[3] = { spool, file, -1 };
	char *argv[] = { NULL, (char *)(uintptr_t)"-z",
	    (char *)(uintptr_t)"-", NULL };
	pid_t pid;
	int rc;

	if ((argv[0] = program_beside("snapcat")) == NULL)
		return errstr_set("there is no snapcat beside it");
	rc = -1;
	(void)!nice(10);	/* what is up again comes first */
	files_limit(room);
	if (lseek(spool, 0, SEEK_SET) == -1)
		(void)errstr_sys("spool");
	else if ((pid = program_read(argv, fd)) != -1)
		rc = (rc = program_wait(pid, PACK_SECONDS)) == 0 ? 0 :
		    errstr_set("snapcat failed: %d", rc);
	files_limit(UINT64_MAX);
	free(argv[0]);
	return rc;
}

/*
 * Make the snapshot of the spool: whole, on the disk, with its name.  It is
 * reserved until it has that, so that who looks counts it once.  Return 0, or
 * -1 with errstr.
 */
static int
spool_pack(int spool, const char *name, uint64_t room,
    const struct claim *claim)
{
	struct reserved others;
	struct output *out;
	int lock, rc;

	if ((out = output_open(name)) == NULL)
		return -1;
	if (snapcat_run(spool, output_fd(out), room) == -1) {
		output_abort(out);
		return -1;
	}
	/* most of it is on the disk before others have to wait for it */
	(void)fdatasync(output_fd(out));
	if ((lock = claim_lock(claim, &others)) == -1) {
		output_abort(out);
		return -1;
	}
	rc = output_commit(out);
	claim_unlock(claim, lock, 0, 0);
	return rc;
}

/*
 * Have the kernel let go who fell: nobody reads from the pipe any more.
 */
static void
let_go(struct crashing *f)
{
	int fd;

	if ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) != -1) {
		(void)dup2(fd, STDIN_FILENO);
		close(fd);
	}
	if (f->pidfd > STDERR_FILENO)
		close(f->pidfd);
	f->pidfd = -1;
}

/*
 * Do what c wants with snapshot name of f, which begins with "./": let its user
 * read it, log it, and run the hook, which needs no place.
 */
static void
snapshot_use(const struct config *c, struct crashing *f, const char *name,
    struct claim *claim)
{
	char what[128], frames[512];

	/* nobody is to read what is another's */
	if (c->owner && f->plain && f->given && c->companions == WITH_NONE)
		owner_allow(name, f->uid);
	frames_text(f, name, frames, sizeof frames);
	signal_text((unsigned int)f->signal, what, sizeof what);
	syslog(LOG_CRIT, "process %d (%s) of user %u crashed: %s%s: %s/%s",
	    f->pid, f->name, f->uid, what, frames, c->directory, name + 2);
	claim_end(claim);
	if (*c->hook != '\0')
		hook_run(c, name);
}

/*
 * Take the process f that dumps core, which is let go then, and make the
 * snapshot of that name, "./" before it, as c wants it.  Return 0, or -1 with
 * errstr.
 */
static int
crash_keep(const struct config *c, struct crashing *f, struct claim *claim,
    char name[80])
{
	struct reserved others;
	uint64_t room = 0;
	int rc, spool = -1;

	if ((rc = claim_take(claim, c)) == 0 && (spool = spool_new()) == -1)
		rc = errstr_sys("%s", c->directory);
	if (rc == 0)
		rc = spool_take(c, f, spool, claim, &room);
	let_go(f);
	claim_let(claim);
	/* its name may begin with a dash */
	snprintf(name, 80, "./%s.snap.gz", f->id);
	if (rc == 0) {
		/* the spool is as large as it will be */
		claim_unlock(claim, claim_lock(claim, &others), room, room);
		rc = spool_pack(spool, name, room, claim);
	}
	if (spool != -1)
		close(spool);
	return rc;
}

/*
 * Take the process that dumps core into standard input, as c wants it: words
 * are those that the kernel has given, or it is a socket of the kernel's, and
 * they are NULL.  Return the exit status; what is wrong goes into the log, when
 * it was let go: it may be who keeps that.
 */
int
crash_take(const struct config *c, char *const words[])
{
	struct crashing f = { .pid = -1, .pidfd = -1 };
	struct claim claim = { -1, -1 };
	char name[80], what[128];
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	rc = words == NULL ? crashing_receive(&f, STDIN_FILENO) :
	    crashing_learn(&f, words);
	if (rc == 0 && c->corelimit)
		rc = crashing_allowed(&f);
	if (rc == 0)
		rc = store_open(c);
	umask(S_IRWXG | S_IRWXO);
	if (rc == 0)
		rc = crash_keep(c, &f, &claim, name);
	if (rc == 0) {
		snapshot_use(c, &f, name, &claim);
		return 0;
	}
	let_go(&f);
	signal_text((unsigned int)f.signal, what, sizeof what);
	syslog(LOG_CRIT, "process %d (%s) crashed: %s: no snapshot: %s", f.pid,
	    f.name, what, snap_errstr());
	return 1;
}
