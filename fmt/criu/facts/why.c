/*
 * Keep the reasons why things cannot be restored from CRIU images, and decide
 * whether these things are left out. Only things of kinds that the user named
 * are left out.
 */
#include "facts.h"
#include "bisect.h"

/*
 * Names of the kinds in snap-restore(7). WHY_NEVER has none, since a process
 * cannot be left out, and cgroups have none, since processes run without them.
 */
static const char *const word[WHY_KINDS] = {
	[WHY_AIO] = "aio", [WHY_CREDENTIALS] = "credentials",
	[WHY_DELETED] = "deleted", [WHY_DEVICE] = "device",
	[WHY_EPOLL] = "epoll", [WHY_EVENTFD] = "eventfd",
	[WHY_FANOTIFY] = "fanotify", [WHY_GUARD] = "guard",
	[WHY_HUGETLB] = "hugetlb", [WHY_INOTIFY] = "inotify",
	[WHY_IO_URING] = "io_uring", [WHY_LOCKS] = "locks",
	[WHY_MOUNT] = "mount", [WHY_MQUEUE] = "mqueue",
	[WHY_MULTICAST] = "multicast", [WHY_NAMESPACES] = "namespaces",
	[WHY_NETLINK] = "netlink", [WHY_OTHER] = "other",
	[WHY_PACKET] = "packet", [WHY_PAGES] = "pages", [WHY_PIDFD] = "pidfd",
	[WHY_PIPE] = "pipe", [WHY_RAW] = "raw", [WHY_SECRETMEM] = "secretmem",
	[WHY_SHM] = "shm", [WHY_SHSTK] = "shstk", [WHY_SOCKOPT] = "sockopt",
	[WHY_SYSV] = "sysv", [WHY_TCP] = "tcp", [WHY_TIMER] = "timer",
	[WHY_TTY] = "tty", [WHY_UDP] = "udp", [WHY_UNIX] = "unix",
	[WHY_USERFAULTFD] = "userfaultfd", [WHY_USERNS] = "userns"
};

/*
 * Features of images, each with the first version of criu that reads it, newest
 * version first. criu 3.17 reads everything else.
 */
static const struct {
	const char	*version;
	const char	*what;
} since[SINCE_MAX] = {
	[SINCE_GUARD] = { "4.2", "guard pages" },
	[SINCE_AMBIENT] = { "4.1", "ambient capabilities" },
	[SINCE_ITIMER] = { "4.1", "timers that expire once" },
	[SINCE_PAC] = { "4.1", "keys that sign pointers" },
	[SINCE_PIDFD] = { "4.1", "pidfds" },
	[SINCE_PING] = { "4.1", "ping_group_range" },
	[SINCE_RESET] = { "4.0", "SCHED_RESET_ON_FORK" },
	[SINCE_TTL] = { "4.0", "IP_TTL" },
	[SINCE_NODELAY] = { "4.0", "TCP_NODELAY and TCP_CORK" },
	[SINCE_MEMBARRIER] = { "3.19", "membarrier" },
	[SINCE_MODE] = { "3.19", "modes of memfds" },
	[SINCE_PRIVS] = { "3.19", "no_new_privs" },
	[SINCE_TOS] = { "3.19", "IP_TOS" },
	[SINCE_CGROUP] = { "3.18", "cgroups of threads" },
	[SINCE_PKTINFO] = { "3.18", "IP_PKTINFO" },
	[SINCE_STOP] = { "3.18", "signals that stopped a process" }
};

/*
 * Append to b the names of the kinds in the set kinds, separated by the string
 * sep.
 */
static void
words_add(struct buf *b, uint64_t kinds, const char *sep)
{
	const char *before;
	size_t i;

	before = "";
	for (i = 0; i < WHY_KINDS; i++)
		if (word[i] != NULL && kinds >> i & 1) {
			buf_printf(b, "%s%s", before, word[i]);
			before = sep;
		}
}

/*
 * Return the set that has only the kind named by the n bytes at s, or 0 if
 * there is no such kind.
 */
static uint64_t
word_kind(const char *s, size_t n)
{
	const char *const *w = SEEK_IN(word, *x != NULL && strlen(*x) == n &&
	    memcmp(*x, s, n) == 0);

	return w == NULL ? 0 : (uint64_t)1 << (w - word);
}

/*
 * Add kinds of reasons (enum makewhy) to the set *leave. The string list has
 * their names, separated by commas. Return 0, or -1 with errstr set to a
 * message that lists all valid names.
 */
int
criu_leave(const char *list, uint64_t *leave)
{
	struct buf b = { 0 };
	uint64_t kind;
	const char *s;
	char *all;
	size_t n;

	for (s = list;; s += n + 1) {
		n = strcspn(s, ",");
		if ((kind = word_kind(s, n)) == 0)
			break;
		*leave |= kind;
		if (s[n] == '\0')
			return 0;
	}
	words_add(&b, UINT64_MAX, ", ");
	if ((all = buf_text(&b)) != NULL)
		errstr_set("%.*s: not one of %s", (int)n, s, all);
	free(all);
	return -1;
}

/*
 * Format a sentence as vprintf(3) does, after a prefix that names process t and
 * its descriptor fd; either may be NULL. Return the sentence, or NULL with
 * errstr set if memory runs out.
 */
static char *
sentence(struct criumake *m, const struct maketask *t,
    const struct makefd *fd, const char *fmt, va_list ap)
{
	struct buf b = { 0 };
	char *text;

	if (t != NULL)
		buf_printf(&b, "process %" PRIu64, t->proc->pid);
	if (fd != NULL && fd->fd == NOFD)
		buf_puts(&b, ", a descriptor queued in a socket");
	else if (fd != NULL)
		buf_printf(&b, ", descriptor %" PRIu64, fd->fd);
	if (t != NULL)
		buf_puts(&b, ": ");
	if (vasprintf(&text, fmt, ap) == -1)
		b.failed = true;
	else {
		buf_puts(&b, text);
		free(text);
	}
	return pool_own(&m->pool, buf_text(&b));
}

static int
reason_add(struct criumake *m, enum makewhy kind, char *text)
{
	return text == NULL ? -1 : POOL_ADD(&m->pool, m->reason, m->nreason,
	    (struct makereason){ text, kind });
}

/*
 * Record in m the reason why a thing of this kind cannot be restored. The
 * caller must leave it out. The thing belongs to process t and its descriptor
 * fd; either may be NULL. The reason is formatted as by printf(3). Unless kind
 * is WHY_NEVER, reason_print() adds ": cannot be restored" or ": left out".
 * Return 0, or -1 with errstr set if memory runs out.
 */
int
make_refuse(struct criumake *m, const struct maketask *t,
    const struct makefd *fd, enum makewhy kind, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = reason_add(m, kind, sentence(m, t, fd, fmt, ap));
	va_end(ap);
	return rc;
}

/*
 * Record in m that mapping v of process t cannot be restored. why is the
 * reason, and kind is its class. Return 0, or -1 with errstr set if memory runs
 * out.
 */
int
make_unmapped(struct criumake *m, const struct maketask *t,
    const struct vma *v, enum makewhy kind, const char *why)
{
	return make_refuse(m, t, NULL, kind, "mapping at %" PRIx64 "%s%s: %s",
	    v->start, *v->name != '\0' ? " of " : "", v->name, why);
}

/*
 * Record in m that process t cannot be restored. After this, nothing is
 * written, and open files are not examined. The reason is a complete sentence,
 * formatted as by printf(3). t may be NULL if the sentence names the process.
 * Return 0, or -1 with errstr set if memory runs out.
 */
int
make_never(struct criumake *m, const struct maketask *t, const char *fmt, ...)
{
	va_list ap;
	int rc;

	m->fatal = true;
	va_start(ap, fmt);
	rc = reason_add(m, WHY_NEVER, sentence(m, t, NULL, fmt, ap));
	va_end(ap);
	return rc;
}

/*
 * Record in m a note on how something will differ after the restore. The note
 * is a complete sentence, formatted as by printf(3). It is about process t or
 * its descriptor fd; either may be NULL. Return 0, or -1 with errstr set if
 * memory runs out.
 */
int
make_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sentence(m, t, fd, fmt, ap);
	va_end(ap);
	return text == NULL ? -1 :
	    POOL_ADD(&m->pool, m->note, m->nnote, text);
}

/*
 * Record in m that the images use the given feature, which needs a newer criu.
 */
void
make_since(struct criumake *m, enum makesince feature)
{
	m->since |= 1U << feature;
}

/*
 * Report through m->opts->note which criu versions newer than 3.17 the images
 * need, and for which features. Report nothing if 3.17 is enough.
 */
static int
since_print(const struct criumake *m)
{
	struct buf b = { 0 };
	const char *last = "";
	size_t i;

	if (m->since == 0 || m->opts->note == NULL)
		return 0;
	for (i = SINCE_LONG + 1; i < SINCE_MAX; i++) {
		if (!(m->since >> i & 1))
			continue;
		if (strcmp(last, since[i].version) == 0)
			buf_printf(&b, ", %s", since[i].what);
		else
			buf_printf(&b, "%s %s or newer for %s", *last == '\0' ?
			    "needs criu" : ";", since[i].version,
			    since[i].what);
		last = since[i].version;
	}
	return buf_report(&b, m->opts->note, m->opts->arg);
}

/*
 * Append option and its value to the criu command line that is shown to the
 * user. Do nothing if m->opts->words is NULL.
 */
void
make_word(const struct criumake *m, const char *option, const char *value)
{
	if (m->opts->words == NULL)
		return;
	buf_printf(m->opts->words, " %s ", option);
	shell_word(m->opts->words, value);
}

/*
 * Report reason r through o->warn if its kind is in obstacles, the set of kinds
 * that prevent writing. If that set is empty, report that what r describes is
 * left out.
 */
static int
reason_print(const struct criuopts *o, const struct makereason *r,
    uint64_t obstacles)
{
	struct buf b = { 0 };

	if (obstacles != 0 && !(obstacles >> r->kind & 1))
		return 0;
	buf_puts(&b, r->text);
	if (obstacles == 0)
		buf_puts(&b, ": left out");
	else if (r->kind != WHY_NEVER)
		buf_printf(&b, ": cannot be restored (%s-f %s leaves it out)",
		    o->check ? "snapload " : "", word[r->kind]);
	return buf_report(&b, o->warn, o->arg);
}

/*
 * Set errstr to say that nothing was written, and that option -f with these
 * kinds would write the rest. If o->check is set, say instead that not all can
 * be restored, and that -f would restore the rest. Return -1.
 */
static int
refuse_all(const struct criuopts *o, uint64_t kinds)
{
	struct buf b = { 0 };
	char *names;

	words_add(&b, kinds, ",");
	if ((names = buf_text(&b)) != NULL)
		errstr_set(o->check ? "not all can be restored (snapload -f "
		    "%s restores the rest)" : "nothing is written (-f %s "
		    "writes the rest)", names);
	free(names);
	return -1;
}

/*
 * Decide whether the recorded reasons prevent writing. A reason of kind
 * WHY_NEVER always does, and one of kind WHY_CGROUPS never does. Any other does
 * unless its kind is in m->opts->leave. If no reason does, report all reasons
 * and notes through m->opts, and return 0. Otherwise report only the reasons
 * that prevent it, and return -1 with errstr set.
 */
int
makewhy_judge(const struct criumake *m)
{
	uint64_t kinds, obstacles;
	size_t i;

	for (kinds = 0, i = 0; i < m->nreason; i++)
		kinds |= (uint64_t)1 << m->reason[i].kind;
	obstacles = kinds & (~m->opts->leave | (uint64_t)1 << WHY_NEVER) &
	    ~((uint64_t)1 << WHY_CGROUPS);
	for (i = 0; i < m->nreason; i++)
		if (reason_print(m->opts, &m->reason[i], obstacles) == -1)
			return -1;
	for (i = 0; i < m->nnote && obstacles == 0 &&
	    m->opts->note != NULL; i++)
		m->opts->note(m->opts->arg, m->note[i]);
	if (obstacles == 0)
		return since_print(m);
	return !(obstacles >> WHY_NEVER & 1) ? refuse_all(m->opts, kinds) :
	    errstr_set(m->opts->check ? "not all can be restored" :
	    "nothing is written");
}

/*
 * Record a reason for each range of pages between the addresses start and end
 * that im lacks, for example because they could not be read. im may be NULL.
 * whose and pid say whose memory it is, for example "process" and a process ID.
 * Return 0, or -1 with errstr set.
 */
int
make_missing(struct criumake *m, const struct image *im, const char *whose,
    uint64_t pid, uint64_t start, uint64_t end)
{
	const struct missing *x;
	size_t i;

	if (im == NULL)
		return 0;
	for (i = BISECT_WHILE(n, im->nmissing, im->missing[n].end <= start);
	    i < im->nmissing && im->missing[i].start < end; i++) {
		x = &im->missing[i];
		if (make_refuse(m, NULL, NULL, WHY_PAGES, "%s %" PRIu64
		    ": its memory from "
		    "%" PRIx64 " to %" PRIx64 " is not in the snapshot (%s)",
		    whose, pid, x->start > start ? x->start : start,
		    x->end < end ? x->end : end, x->reason) == -1)
			return -1;
	}
	return 0;
}
