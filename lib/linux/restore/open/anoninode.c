/*
 * Record open files of anonymous inodes: eventfd(2), epoll(7),
 * timerfd_create(2), signalfd(2) and similar. Their state is in fdinfo:
 * proc_pid_fdinfo(5).
 */
#include "bisect.h"
#include "opened.h"
#include "vec.h"

#include <sys/sysmacros.h>
#include <sys/timerfd.h>

static void
eventfd_record(struct filerec *t)
{
	const char *s;

	if ((s = info_find(t->info, "eventfd-count:")) != NULL)
		buf_printf(&t->out, "count %llu\n", strtoull(s, NULL, 16));
	else
		tell_why(t, "its fdinfo has no count");
	if ((s = info_find(t->info, "eventfd-semaphore:")) != NULL)
		buf_printf(&t->out, "semaphore %lu\n", strtoul(s, NULL, 10));
}

static void
signalfd_record(struct filerec *t)
{
	const char *s;

	if ((s = info_find(t->info, "sigmask:")) != NULL)
		buf_printf(&t->out, "mask %llx\n", strtoull(s, NULL, 16));
	else
		tell_why(t, "its fdinfo has no signal mask");
}

/*
 * Set *ns to the time after key in info, in nanoseconds. In info the time has
 * the form "(seconds, nanoseconds)". Return false if it is missing.
 */
static bool
info_time(const char *info, const char *key, unsigned long long *ns)
{
	unsigned long long sec, nsec;
	const char *s;

	if ((s = info_find(info, key)) == NULL ||
	    sscanf(s, " (%llu, %llu)", &sec, &nsec) != 2)
		return false;
	*ns = sec * 1000000000 + nsec;
	return true;
}

struct timerinfo {			/* of fdinfo */
	const char *clock, *how;
	unsigned long long left, interval, ticks;
};

static bool
timer_parse(const char *info, struct timerinfo *i)
{
	const char *ticks;

	i->clock = info_find(info, "clockid:");
	i->how = info_find(info, "settime flags:");
	if ((ticks = info_find(info, "ticks:")) == NULL)
		return false;
	i->ticks = strtoull(ticks, NULL, 10);
	return i->clock != NULL && i->how != NULL &&
	    info_time(info, "it_value:", &i->left) &&
	    info_time(info, "it_interval:", &i->interval);
}

/*
 * Count all expirations of a timer that is not read. The kernel stops a
 * periodic timer at its first expiration, and counts the others when the timer
 * is read or queried. The query starts the timer again, so an epoll set with
 * EPOLLET may get one event more: query the timer only if its process ends.
 */
static bool
timer_count(struct filerec *t, struct timerinfo *i)
{
	struct itimerspec unused;

	if (!t->live->opts.move || i->interval == 0 || i->left > 0 ||
	    i->ticks == 0 || timerfd_gettime(t->dup, &unused) == -1)
		return true;
	return info_read(t) && timer_parse(t->info, i);
}

/*
 * If a timer has neither time left nor expirations, it is disarmed, or it has
 * expired and its interrupt, some 30 us late, has not counted that yet. Then it
 * would never expire after a restore. Read fdinfo again until an expiration is
 * counted, at most TIMER_READS times.
 */
static void
timerfd_record(struct filerec *t)
{
	enum { TIMER_READS = 20 };
	unsigned int *left = &t->live->files->timereads;
	struct timerinfo i;
	unsigned int n;
	bool ok;

	ok = timer_parse(t->info, &i);
	for (n = 0; ok && i.left == 0 && i.ticks == 0 && n < TIMER_READS &&
	    *left > 0; n++, --*left)
		ok = info_read(t) && timer_parse(t->info, &i);
	if (!ok || !timer_count(t, &i)) {
		tell_why(t, "its fdinfo lacks timer settings");
		return;
	}
	buf_printf(&t->out, "clock %ld\nsettime %lx\ninterval %llu\n"
	    "left %llu\nticks %llu\n", strtol(i.clock, NULL, 10),
	    strtoul(i.how, NULL, 8), i.interval, i.left, i.ticks);
}

struct target {			/* a file watched by an epoll set */
	unsigned int	 fd;
	unsigned int	 events;
	unsigned long long data;
	uint64_t	 ino;
	uint64_t	 dev;
	size_t		 place;	/* position of the file in the kernel's list */
};

static bool
target_parse(const char *line, struct target *e)
{
	enum { MINORBITS = 20 };	/* from linux/kdev_t.h */
	unsigned long ino;
	unsigned int dev;
	long long pos;

	if (sscanf(line, "%u events: %x data: %llx pos:%lli ino:%lx sdev:%x",
	    &e->fd, &e->events, &e->data, &pos, &ino, &dev) != 6)
		return false;
	e->ino = ino;
	e->dev = makedev(dev >> MINORBITS, dev & ((1U << MINORBITS) - 1));
	return true;
}

CMP2(target_cmp, struct target, fd, place)

/*
 * Parse the list of files that an epoll set watches. info is the text of the
 * fdinfo of the set. Set *out to an array of the files, sorted by descriptor;
 * the caller frees the array. A descriptor that was closed and reused may
 * appear twice; its entries stay in the kernel's order. Return the number of
 * files, or -1 with errstr set.
 */
static ssize_t
targets_parse(const char *info, struct target **out)
{
	struct target *v, *e;
	const char *s;
	size_t n, cap;

	for (cap = 0, s = info; (s = info_find(s, "tfd:")) != NULL;)
		cap++;
	if ((v = mem_new(cap, sizeof *v)) == NULL)
		return -1;
	for (n = 0, s = info; (s = info_find(s, "tfd:")) != NULL; n++) {
		e = &v[n];
		e->place = n;
		if (!target_parse(s, e)) {
			free(v);
			return errstr_set("its fdinfo does not list what it "
			    "watches");
		}
	}
	SORT(v, n, target_cmp);
	*out = v;
	return (ssize_t)n;
}

/*
 * Return the open file description that entry e of epoll set t watches, or NULL
 * if it is unknown. nth is the number of entries before e with the same
 * descriptor number. First try the file that the process of t has open with
 * that number, which usually is the watched file. If it is a socket with the
 * device and inode numbers in e, it is certainly the watched one.
 */
static const struct resource *
target_file(const struct filerec *t, const struct target *e, uint32_t nth)
{
	const struct kcmp_epoll_slot slot = { (uint32_t)t->fd, e->fd, nth };
	struct resource key = { .kind = KCMP_FILE, .dev = e->dev, .ino = e->ino,
	    .pid = t->pid, .slot = &slot };
	const struct fdset *set = t->set;
	const size_t at = BISECT_WHILE(i, set->n, set->v[i].fd < (int)e->fd);
	const struct fdref *r = at < set->n && set->v[at].fd == (int)e->fd ?
	    &set->v[at] : NULL;

	if (r != NULL && S_ISSOCK(r->mode) && r->file->dev == e->dev &&
	    r->file->ino == e->ino)
		return r->file;
	return resource_find(t->live->files, &key, r == NULL ? NULL : r->file);
}

static void
epoll_record(struct filerec *t)
{
	const struct resource *f;
	struct target *v = NULL;
	uint32_t nth;
	ssize_t i, n;

	if ((n = targets_parse(t->info, &v)) == -1) {
		tell_why(t, "%s", snap_errstr());
		return;
	}
	for (i = 0, nth = 0; i < n; i++) {
		nth = i > 0 && v[i].fd == v[i - 1].fd ? nth + 1 : 0;
		f = target_file(t, &v[i], nth);
		buf_printf(&t->out, "target %u %x %llx ", v[i].fd,
		    v[i].events, v[i].data);
		if (f == NULL)
			buf_puts(&t->out, "-\n");
		else
			buf_printf(&t->out, "%ju\n", (uintmax_t)f->id);
	}
	free(v);
}

static void
pidfd_record(struct filerec *t)
{
	const char *s;

	if ((s = info_find(t->info, "Pid:")) != NULL)
		buf_printf(&t->out, "pid %ld\n", strtol(s, NULL, 10));
	buf_printf(&t->out, "ino %ju\n", (uintmax_t)t->ino);
}

static void
foreign_record(struct filerec *t)
{
	tell_why(t, "%s", t->link);
}

static const struct kind {
	const char *link;	/* target of the link, after "anon_inode:" */
	const char *type;
	bool dup;		/* duplicate the descriptor; closing the
				   duplicate has no side effects */
	void (*record)(struct filerec *);
} kinds[] = {
	{ "[eventfd]", "eventfd", true, eventfd_record },
	{ "[eventpoll]", "epoll", true, epoll_record },
	{ "[timerfd]", "timerfd", true, timerfd_record },
	{ "[signalfd]", "signalfd", true, signalfd_record },
	{ "inotify", "inotify", false, inotify_record },
	{ "[pidfd]", "pidfd", false, pidfd_record },
	{ "[fanotify]", "fanotify", false, fanotify_record },
	{ "[io_uring]", "io_uring", false, foreign_record },
	{ "", "other", false, foreign_record }
};

/*
 * If t is an anonymous inode, record it and return true. Otherwise return
 * false.
 */
bool
anoninode_record(struct filerec *t)
{
	static const char prefix[] = "anon_inode:";
	const struct kind *k;

	if (strncmp(t->link, prefix, sizeof prefix - 1) != 0)
		return false;
	k = SEEK_IN(kinds, *x->link == '\0' ||
	    strcmp(x->link, t->link + sizeof prefix - 1) == 0);
	filerec_type(t, k->type);
	if (k->dup)
		(void)filerec_dup(t);
	k->record(t);
	return true;
}
