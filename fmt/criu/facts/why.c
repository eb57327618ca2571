/*
 * Why something cannot be restored from CRIU images, and whether it is left
 * out of them: only what is of a kind that was named is.
 */
#include "facts.h"
#include "bisect.h"
#include "vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What snapload(1) calls the kinds.  A process as a whole has none, for it
 * cannot be left out, nor have cgroups, which nobody needs to go on.
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
 * What images have that criu reads only since a version, the newest first.  All
 * else it reads since 3.17 or longer.
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
 * Add the words of the kinds that are in a set, with a string between two.
 */
static void
words_add(struct buf *b, uint64_t kinds, const char *between)
{
	const char *before;
	size_t i;

	before = "";
	for (i = 0; i < WHY_KINDS; i++)
		if (word[i] != NULL && kinds >> i & 1) {
			buf_printf(b, "%s%s", before, word[i]);
			before = between;
		}
}

/*
 * Return the set of the one kind whose word s, of n bytes, is; 0 if none is.
 */
static uint64_t
word_kind(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < WHY_KINDS; i++)
		if (word[i] != NULL && strlen(word[i]) == n &&
		    memcmp(word[i], s, n) == 0)
			return (uint64_t)1 << i;
	return 0;
}

/*
 * Add to *leave, the set of struct criuopts, the kinds of a list of words with
 * commas between them.  Return 0, or -1 with an error that lists all words.
 */
int
criu_leave(const char *list, uint64_t *leave)
{
	struct buf b = { 0 };
	uint64_t kind;
	const char *s;
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
	buf_add(&b, "", 1);
	if (buf_check(&b) == 0)
		errstr_set("%.*s: not one of %s", (int)n, s,
		    (char *)b.data);
	buf_free(&b);
	return -1;
}

/*
 * Return a sentence made of fmt as printf(3) does, behind whom it is about:
 * process t, or its descriptor fd; each may be NULL.  The caller frees it; NULL
 * with errstr if there is no memory.
 */
static char *
sentence(const struct maketask *t, const struct makefd *fd, const char *fmt,
    va_list ap)
{
	struct buf b = { 0 };
	char *text;

	if (t != NULL)
		buf_printf(&b, "process %" PRIu64, t->proc->pid);
	if (fd != NULL)
		buf_printf(&b, ", descriptor %" PRIu64, fd->fd);
	if (t != NULL)
		buf_puts(&b, ": ");
	if (vasprintf(&text, fmt, ap) == -1)
		b.failed = true;
	else {
		buf_add(&b, text, strlen(text) + 1);
		free(text);
	}
	if (buf_check(&b) == 0)
		return (char *)b.data;
	buf_free(&b);
	return NULL;
}

static int
reason_add(struct criumake *m, enum makewhy kind, char *text)
{
	if (text != NULL && VEC_ADD(m->reason, m->nreason,
	    (struct makereason){ text, kind }) == 0)
		return 0;
	free(text);
	return -1;
}

/*
 * Note in m why something of that kind cannot be restored: of process t, or of
 * its descriptor fd, each of which may be NULL.  The caller leaves it out.  The
 * reason, made of fmt as printf(3) does, is a sentence to which ": cannot be
 * restored" is added, or, of WHY_NEVER, a whole one.  Return 0, or -1 with
 * errstr if there is no memory.
 */
int
make_refuse(struct criumake *m, const struct maketask *t,
    const struct makefd *fd, enum makewhy kind, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = reason_add(m, kind, sentence(t, fd, fmt, ap));
	va_end(ap);
	return rc;
}

/*
 * Note in m why mapping v of process t, which is of that kind, cannot be
 * restored.  Return as make_refuse.
 */
int
make_unmapped(struct criumake *m, const struct maketask *t,
    const struct vma *v, enum makewhy kind, const char *why)
{
	return make_refuse(m, t, NULL, kind, "mapping at %" PRIx64 "%s%s: %s",
	    v->start, *v->name != '\0' ? " of " : "", v->name, why);
}

/*
 * Note in m why process t as a whole, which cannot be left out, cannot be
 * restored: a whole sentence, made of fmt as printf(3) does, in which t may be
 * NULL if it names the process.  Nothing is made then, and open files are not
 * looked at.  Return 0, or -1 with errstr if there is no memory.
 */
int
make_never(struct criumake *m, const struct maketask *t, const char *fmt, ...)
{
	va_list ap;
	int rc;

	m->fatal = true;
	va_start(ap, fmt);
	rc = reason_add(m, WHY_NEVER, sentence(t, NULL, fmt, ap));
	va_end(ap);
	return rc;
}

/*
 * Note in m, in a whole sentence, made of fmt as printf(3) does, what of
 * process t, or of its descriptor fd, each of which may be NULL, will not be as
 * it was though it is restored.  Return 0, or -1 with errstr if there is no
 * memory.
 */
int
make_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sentence(t, fd, fmt, ap);
	va_end(ap);
	if (text != NULL && VEC_ADD(m->note, m->nnote, text) == 0)
		return 0;
	free(text);
	return -1;
}

/*
 * Note in m that the images have what.
 */
void
make_since(struct criumake *m, enum makesince what)
{
	m->since |= 1U << what;
}

/*
 * Tell o->note in a line which versions of criu the images need, if not all
 * since 3.17 read them.  Return 0, or -1 with errstr.
 */
static int
since_print(const struct criumake *m)
{
	struct buf b = { 0 };
	const char *last = "";
	size_t i;
	int rc;

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
	buf_add(&b, "", 1);
	if ((rc = buf_check(&b)) == 0)
		m->opts->note(m->opts->arg, (char *)b.data);
	buf_free(&b);
	return rc;
}

/*
 * Add an option and its value to those of criu's command that the caller of m
 * is told, if it asked.
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
 * Tell reason r.  hinder is the set of kinds for which nothing is written:
 * other reasons are not told then.  If it is empty, all that there is a
 * reason for is left out.
 */
static int
reason_print(const struct criuopts *o, const struct makereason *r,
    uint64_t hinder)
{
	struct buf b = { 0 };
	int rc;

	if (hinder != 0 && !(hinder >> r->kind & 1))
		return 0;
	buf_puts(&b, r->text);
	if (hinder == 0)
		buf_puts(&b, ": left out");
	else if (r->kind != WHY_NEVER)
		buf_printf(&b, ": cannot be restored (%s-f %s leaves it out)",
		    o->check ? "snapload " : "", word[r->kind]);
	buf_add(&b, "", 1);
	rc = buf_check(&b);
	if (rc == 0 && o->warn != NULL)
		o->warn(o->arg, (char *)b.data);
	buf_free(&b);
	return rc;
}

/*
 * Set the error string to that nothing is written, or to be restored, and how
 * all but these kinds would be.  Return -1.
 */
static int
refuse_all(const struct criuopts *o, uint64_t kinds)
{
	struct buf b = { 0 };

	words_add(&b, kinds, ",");
	buf_add(&b, "", 1);
	if (buf_check(&b) == 0)
		errstr_set(o->check ? "not all can be restored (snapload -f "
		    "%s restores the rest)" : "nothing is written (-f %s "
		    "writes the rest)", (char *)b.data);
	buf_free(&b);
	return -1;
}

/*
 * Tell o->warn the reasons, which are all known now, each a line.  Return 0
 * if all that there is one for is of kinds that are left out; else -1, and
 * only what hinders is told.
 */
int
makewhy_judge(const struct criumake *m)
{
	uint64_t kinds, hinder;
	size_t i;

	for (kinds = 0, i = 0; i < m->nreason; i++)
		kinds |= (uint64_t)1 << m->reason[i].kind;
	hinder = kinds & (~m->opts->leave | (uint64_t)1 << WHY_NEVER) &
	    ~((uint64_t)1 << WHY_CGROUPS);
	for (i = 0; i < m->nreason; i++)
		if (reason_print(m->opts, &m->reason[i], hinder) == -1)
			return -1;
	for (i = 0; i < m->nnote && hinder == 0 && m->opts->note != NULL; i++)
		m->opts->note(m->opts->arg, m->note[i]);
	if (hinder == 0)
		return since_print(m);
	return !(hinder >> WHY_NEVER & 1) ? refuse_all(m->opts, kinds) :
	    errstr_set(m->opts->check ? "not all can be restored" :
	    "nothing is written");
}

/*
 * Free the reasons and notes of m.
 */
void
makewhy_free(struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->nreason; i++)
		free(m->reason[i].text);
	free(m->reason);
	for (i = 0; i < m->nnote; i++)
		free(m->note[i]);
	free(m->note);
}

/*
 * Note in m pages of im, which may be NULL, from start up to end, that were to
 * be there but could not be read. whose and pid say whose they are.  Return 0,
 * or -1 with errstr.
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
