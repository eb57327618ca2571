/*
 * Capture a process when the kernel runs us for its crash: core_pattern in
 * core(5). The process stays until nobody reads from the pipe any more, and its
 * parent waits that long. So it is first captured into a spool, as fast as
 * memory can be read; then it is let go; then the spool is compressed.
 */
#include "crash.h"

#include <fcntl.h>
#include <signal.h>
#include <syslog.h>
#include <unistd.h>

enum {
	TAKE_SECONDS = 600,	/* time limit for the capture; after it, the
				   process is let go */
	PACK_SECONDS = 3600,
	MARGIN = 64 << 20	/* room for embedded files, in bytes */
};

static const uint64_t room_least = 1 << 20;	/* minimum room for a snapshot,
						   in bytes */

/*
 * Create an unnamed file in the current directory. It vanishes if we are
 * killed. Return its descriptor, or -1 with errno set.
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

struct taking {			/* a process being captured into the spool */
	const struct config *c;
	struct crashes	*l;	/* borrowed; existing snapshots */
	const struct space *sp;	/* borrowed; its memory; NULL: unknown */
	uint64_t	 charged;	/* user charged for the snapshot */
	uint64_t	 room;	/* maximum size of the final snapshot, in
				   bytes */
	uint64_t	 spool;	/* maximum size of the spool, in bytes */
};

/*
 * Choose the maximum sizes of the snapshot and its spool, within the available
 * room. The snapshot may take the estimated size of the process plus MARGIN,
 * and a seventh more: an eighth of the result is for mapped files. It may take
 * at least a part of the available room, because mapped files and shared memory
 * may be larger than the memory of the process: half if its size is unknown or
 * other processes are captured, otherwise half divided by the number of crashes
 * that are captured at once. others has the reservations of other handlers.
 * Return 0, or -1 with errstr set if there is too little room.
 */
static int
room_choose(struct taking *t, const struct reserved *others)
{
	const bool more = t->sp == NULL || t->c->companions != WITH_NONE;
	uint64_t need, disk, most, least;

	if (store_read(t->c, t->l) == -1)
		return -1;
	need = t->sp == NULL ? 0 : space_takes(t->sp, t->c->dontdump);
	t->room = store_room(t->c, t->l, t->charged, need, others, &disk);
	most = (need + MARGIN) / 7 * 8;	/* see limit in snap_run() */
	least = t->room / 2 / (more ? 1 : t->c->atonce);
	if (most < least)
		most = least;
	if (t->room > most)
		t->room = most;
	t->spool = t->room + MARGIN < disk - t->room ? t->room + MARGIN :
	    disk - t->room;
	return t->room >= room_least ? 0 :
	    errstr_set("not enough space in %s", t->c->directory);
}

/*
 * Write the option that makes snap(1) capture the cgroup of process pid to
 * word, which has room for size bytes. Set word to "" if that is the root
 * cgroup.
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
 * Run snap(1) to capture the process and its companions into the spool. snap
 * leaves out what does not fit in the room. Return 0, or -1 with errstr set.
 */
static int
snap_run(const struct taking *t, const struct crashing *f, int spool)
{
	const int fd[3] = { STDIN_FILENO, spool, -1 };
	/* an eighth is for mapped files, see leave_whole() of snap */
	const uint64_t limit = t->room - t->room / 8;
	const enum companions with = t->c->companions;
	char signum[24], most[40], group[PATH_MAX + 2], own[16], parent[24];
	char *v[10], **word = v;
	pid_t pid;
	long ppid;
	int rc;

	if ((*word = program_snap()) == NULL)
		return -1;
	*++word = (char *)(uintptr_t)"--core";
	snprintf(signum, sizeof signum, "-msignal %d", f->signal);
	if (f->signal != 0)
		*++word = signum;
	if (!t->c->dontdump)
		*++word = (char *)(uintptr_t)"-xdontdump";
	snprintf(most, sizeof most, "--most=%ju", (uintmax_t)limit);
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
	if ((pid = program_start(v, fd, false)) == -1)
		rc = -1;
	else if ((rc = program_wait(pid, TAKE_SECONDS)) > 1)
		rc = errstr_set("snap exited with status %d", rc);
	/* status 1: something is missing, perhaps everything */
	else if (lseek(spool, 0, SEEK_END) <= 0)
		rc = errstr_set("nothing could be captured");
	else
		rc = 0;
	free(v[0]);
	return rc;
}

/*
 * Capture process f into the spool. Set *room to the maximum size of the final
 * snapshot. Fail if f->pid may by now be the ID of a different process. Return
 * 0, or -1 with errstr set.
 */
static int
spool_take(const struct config *c, struct crashing *f, int spool,
    const struct claim *claim, uint64_t *room)
{
	struct crashes l = { 0 };
	struct space sp = { 0 };
	struct taking t = { .c = c, .l = &l, .charged = f->charged };
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
		rc = errstr_set("the process was killed while it was being "
		    "captured");
	*room = t.room;
	store_free(&l);
	space_free(&sp);
	return rc;
}

/*
 * Compress the spool into a file of at most room bytes. snapcat does this as an
 * unprivileged user. Return 0, or -1 with errstr set.
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
		return errstr_set(
		    "cannot find snapcat in the directory of this program");
	rc = -1;
	(void)!nice(10);	/* let a restarted service go first */
	files_limit(room);
	if (lseek(spool, 0, SEEK_SET) == -1)
		(void)errstr_sys("spool");
	else if ((pid = program_start(argv, fd, true)) != -1)
		rc = (rc = program_wait(pid, PACK_SECONDS)) == 0 ? 0 :
		    errstr_set("snapcat exited with status %d", rc);
	files_limit(UINT64_MAX);
	free(argv[0]);
	return rc;
}

/*
 * Compress the spool into the snapshot called name, and sync it to disk. When
 * the snapshot gets its name, end the reservation, so that other handlers count
 * its bytes exactly once. Return 0, or -1 with errstr set.
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
	/* write most of it to disk before taking the lock */
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
 * Let the kernel end process f: close the pipe to it and its pidfd.
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
 * Finish handling the crash of process f, whose snapshot exists now. If c
 * allows it, let the user of f read the snapshot. Then write a line to the log,
 * release the claim, and run the hook. name is the snapshot file and begins
 * with "./".
 */
static void
snapshot_use(const struct config *c, struct crashing *f, const char *name,
    struct claim *claim)
{
	char what[128], frames[512];

	/* it may contain data that the user is not entitled to */
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
 * Capture process f, which is dumping core, let it end, and make its snapshot.
 * Set name to the name of the snapshot file, which begins with "./". Return 0,
 * or -1 with errstr set.
 */
static int
crash_keep(const struct config *c, struct crashing *f, struct claim *claim,
    char name[80])
{
	struct reserved others;
	uint64_t room = 0, size;
	int rc, spool = -1;

	if ((rc = claim_take(claim, c)) == 0 && (spool = spool_new()) == -1)
		rc = errstr_sys("%s", c->directory);
	claim->spool = spool;
	if (rc == 0)
		rc = spool_take(c, f, spool, claim, &room);
	let_go(f);
	claim_let(claim);
	/* the program's name may begin with a dash */
	snprintf(name, 80, "./%s.snap.gz", f->id);
	if (rc == 0) {
		/* the spool will not grow any more */
		claim->spool = -1;
		size = (uint64_t)lseek(spool, 0, SEEK_END) + MARGIN / 16;
		room = room < size ? room : size;
		claim_unlock(claim, claim_lock(claim, &others), room, room);
		rc = spool_pack(spool, name, room, claim);
	}
	fd_drop(spool);
	return rc;
}

/*
 * Capture the process whose core the kernel writes to standard input. words has
 * the arguments from the kernel; it is NULL if standard input is a socket. Do
 * not log errors until the process has ended, because it may be the log daemon.
 * Return the exit status.
 */
int
crash_take(const struct config *c, char *const words[])
{
	struct crashing f = { .pid = -1, .pidfd = -1 };
	struct claim claim = { -1, -1, -1 };
	struct config mine = *c;
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
	/* the connections that serve does not accept wait in the kernel */
	if (words == NULL)
		mine.waiting = claim_accepts(c);
	if (rc == 0)
		rc = crash_keep(&mine, &f, &claim, name);
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
