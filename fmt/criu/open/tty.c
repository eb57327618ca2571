/*
 * Terminals as CRIU images: an entry in files.img for each that is open, and
 * one in tty-info.img for each end of one.
 */
#include "open.h"
#include "vec.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <string.h>

enum { CCS = 19 };		/* numbers of c_cc; and bytes of it */

enum { CONTROLLING = 4 };	/* the type of /dev/tty */

/*
 * What criu calls kinds of terminals (its images/tty.proto), and the indexes
 * that it gives those that have none (its tty.c).
 */
static const struct kind {
	unsigned int	 major;
	unsigned int	 first;	/* minor, as the next */
	unsigned int	 last;
	uint32_t	 type;
	uint32_t	 index;	/* 0: its own */
} kinds[] = {
	{ 5, 2, 2, 1, 0 },		/* the master of a pseudo terminal */
	{ 136, 0, 255, 1, 0 },		/* and the other end */
	{ 5, 0, 0, CONTROLLING, 1006 },	/* /dev/tty */
	{ 5, 1, 1, 2, 1002 },		/* the console */
	{ 4, 0, 63, 3, 1004 },		/* a virtual terminal */
	{ 188, 0, 255, 6, 1010 },	/* serial lines */
	{ 204, 0, 255, 6, 1010 }
};

/*
 * Return which kind of a terminal f is, or NULL.
 */
static const struct kind *
kind_get(const struct makeopen *f)
{
	const uint64_t dev = f->v[OK_RDEV][0];
	const struct kind *k;
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		k = &kinds[i];
		if (major(dev) == k->major && minor(dev) >= k->first &&
		    minor(dev) <= k->last)
			return k;
	}
	return NULL;
}

/*
 * Return an open file, other than f, of an end of pseudo terminal f that is
 * restored, or NULL.
 */
static const struct makeopen *
end_find(const struct criumake *m, const struct makeopen *f, bool master)
{
	const struct makeopen *o;
	size_t i;

	for (i = 0; i < m->nopen; i++) {
		o = m->open[i];
		if (o != f && makeopen_written(o) && o->type == KIND_TTY &&
		    makeopen_has(o, OK_INDEX) &&
		    o->v[OK_INDEX][0] == f->v[OK_INDEX][0] &&
		    (o->v[OK_MASTER][0] != 0) == master)
			return o;
	}
	return NULL;
}

/*
 * Return whether f is to be the terminal of criu: a pseudo terminal whose
 * master is not restored.
 */
static bool
is_outer(const struct criumake *m, const struct makeopen *f)
{
	return makeopen_written(f) && f->type == KIND_TTY &&
	    makeopen_has(f, OK_INDEX) && f->v[OK_MASTER][0] == 0 &&
	    f->v[OK_HUNGUP][0] == 0 && end_find(m, f, true) == NULL;
}

/*
 * Return the first terminal that is to be that of criu, or NULL.
 */
static const struct makeopen *
outer_find(const struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->nopen; i++)
		if (is_outer(m, m->open[i]))
			return m->open[i];
	return NULL;
}

/*
 * Return why the other end of a pseudo terminal, whose master is not restored,
 * cannot be; NULL if it can: criu has one terminal to give.
 */
static const char *
outer_hinders(const struct criumake *m, const struct makeopen *f)
{
	const struct makeopen *first = outer_find(m);

	return first == NULL || first == f ||
	    first->v[OK_INDEX][0] == f->v[OK_INDEX][0] ? NULL :
	    "one of several terminals of who is not in the snapshot";
}

/*
 * Return the leader, which is restored, of the session that has terminal f,
 * or one of whose ends that is, for its own; or NULL.
 */
static const struct maketask *
leader_find(const struct criumake *m, const struct makeopen *f)
{
	enum { PTS = 136 };
	const struct maketask *t;
	unsigned int n, nr;
	uint64_t dev;
	size_t i;

	n = (unsigned int)f->v[OK_INDEX][0];
	dev = makeopen_has(f, OK_INDEX) ? makedev(PTS + n / 256, n % 256) :
	    f->v[OK_RDEV][0];
	for (i = 0; i < m->norder; i++) {
		t = m->order[i];
		nr = (unsigned int)t->stat.v[STAT_TTY];
		/* new_encode_dev of the kernel's linux/kdev_t.h */
		if (nr != 0 && t->pid == t->sid && makedev(nr >> 8 & 0xfff,
		    (nr & 0xff) | (nr >> 12 & 0xfff00)) == dev)
			return t;
	}
	return NULL;
}

/*
 * Return whether f, /dev/tty, is the controlling terminal of criu: its process
 * will be in the session of that.
 */
static bool
is_session(const struct criumake *m, const struct makeopen *f)
{
	return f->user != NULL && maketask_leader(m, f->user->sid) == NULL;
}

/*
 * Return why f, /dev/tty, cannot be restored, or NULL.  criu opens it in its
 * process, whose session has a terminal again if that is restored with both
 * ends, or is criu's.
 */
static const char *
own_hinders(const struct criumake *m, const struct makeopen *f)
{
	const struct maketask *leader;
	const struct makeopen *o;
	size_t i;

	if (is_session(m, f))
		return NULL;
	for (i = 0; i < m->nopen; i++) {
		o = m->open[i];
		if (o == f || !makeopen_written(o) || o->type != KIND_TTY ||
		    kind_get(o) == NULL || kind_get(o)->type == CONTROLLING ||
		    is_outer(m, o))
			continue;
		leader = leader_find(m, o);
		if (leader != NULL && (f->user == NULL ||
		    leader->sid == f->user->sid))
			return NULL;
	}
	return "the terminal of a session that is not open otherwise";
}

/*
 * Return why terminal f cannot be restored, or NULL.
 */
const char *
maketty_hinders(const struct criumake *m, const struct makeopen *f)
{
	const struct kind *k = kind_get(f);

	if (k == NULL || f->path == NULL || *f->path != '/' ||
	    (k->index == 0 && !makeopen_has(f, OK_INDEX)))
		return "a terminal of a kind that is not known";
	if (f->v[OK_HUNGUP][0] != 0)
		return f->v[OK_MASTER][0] == 0 && k->index == 0 ? NULL :
		    "a terminal that was hung up";
	if (!makeopen_has(f, OK_TERMIOS) || !makeopen_has(f, OK_TERMLOCK) ||
	    !makeopen_has(f, OK_WINSIZE) || f->cclen[0] != CCS ||
	    f->cclen[1] != CCS)
		return "a terminal that little is known of";
	if (k->type == CONTROLLING)
		return own_hinders(m, f);
	if (k->index != 0)
		return NULL;
	if (f->v[OK_MASTER][0] == 0 && end_find(m, f, true) == NULL)
		return outer_hinders(m, f);
	return f->v[OK_WAITING][0] == 0 ? NULL :
	    "a terminal in which bytes wait to be read";
}

/*
 * Set e to the modes of terminal f, those of key, with its control characters;
 * words is for these.
 */
static void
termios_set(Criu__Termios *e, const struct makeopen *f, enum openkey key,
    const uint8_t *cc, uint32_t words[CCS])
{
	const uint64_t *v = f->v[key];
	size_t i;

	criu__termios__init(e);
	e->c_iflag = (uint32_t)v[0];
	e->c_oflag = (uint32_t)v[1];
	e->c_cflag = (uint32_t)v[2];
	e->c_lflag = (uint32_t)v[3];
	e->c_line = (uint32_t)v[4];
	memset(words, 0, CCS * sizeof *words);
	for (i = 0; i < CCS; i++)
		words[i / 4] |= (uint32_t)cc[i] << i % 4 * 8;
	e->c_cc = words;
	e->n_c_cc = CCS;
}

/*
 * Return the group in the foreground of the terminal of a session leader; his
 * own, where that one is not restored.
 */
static uint32_t
foreground(const struct criumake *m, const struct maketask *leader)
{
	size_t i;

	for (i = 0; i < m->norder; i++)
		if (m->order[i]->sid == leader->sid &&
		    m->order[i]->stat.v[STAT_PGRP] ==
		    leader->stat.v[STAT_TPGID])
			return m->order[i]->pgid;
	return leader->pgid;
}

/*
 * Add what is known of terminal f to tty-info.img.
 */
static int
info_add(struct criumake *m, const struct makeopen *f, const struct kind *k,
    uint32_t id)
{
	Criu__TtyInfo e = CRIU__TTY_INFO__INIT;
	Criu__Winsize size = CRIU__WINSIZE__INIT;
	Criu__Pty pty = CRIU__PTY__INIT;
	Criu__Termios mode[2];
	const struct maketask *leader;
	uint32_t words[2][CCS];
	struct buf *b;

	if ((b = make_common(m, CRIU_TTY_INFO, "tty-info.img")) == NULL)
		return -1;
	e.id = id;
	e.type = k->type;
	e.locked = f->v[OK_SHUT][0] != 0;
	e.exclusive = f->v[OK_EXCLUSIVE][0] != 0;
	e.packet_mode = f->v[OK_PACKET][0] != 0;
	if ((leader = leader_find(m, f)) != NULL) {
		e.sid = leader->sid;
		e.pgrp = foreground(m, leader);
	}
	e.rdev = (uint32_t)f->v[OK_RDEV][0];
	e.has_dev = e.has_uid = e.has_gid = true;
	e.dev = (uint32_t)f->v[OK_DEV][0];
	e.uid = makeusers_uid(m, f->v[OK_UID][0]);
	e.gid = makeusers_gid(m, f->v[OK_GID][0]);
	pty.index = (uint32_t)f->v[OK_INDEX][0];
	if (k->index == 0)
		e.pty = &pty;
	if (f->v[OK_HUNGUP][0] == 0) {
		termios_set(&mode[0], f, OK_TERMIOS, f->cc[0], words[0]);
		termios_set(&mode[1], f, OK_TERMLOCK, f->cc[1], words[1]);
		e.termios = &mode[0];
		e.termios_locked = &mode[1];
		size.row = (uint32_t)f->v[OK_WINSIZE][0];
		size.col = (uint32_t)f->v[OK_WINSIZE][1];
		size.xpixel = (uint32_t)f->v[OK_WINSIZE][2];
		size.ypixel = (uint32_t)f->v[OK_WINSIZE][3];
		e.winsize = &size;
	}
	criuimg_add(b, &e.base);
	return 0;
}

/*
 * Add terminal f to files.img, whose entry e is begun, and to tty-info.img what
 * is known of its end, once; fown is to whom it sends signals.  Return 0, or -1
 * with errstr.
 */
int
maketty_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	const struct kind *k = kind_get(f);
	Criu__TtyFile p = CRIU__TTY_FILE__INIT;
	size_t i;

	p.id = f->id;
	p.has_tty_info_id = p.has_regf_id = true;
	p.tty_info_id = (k->index != 0 ? k->index :
	    (uint32_t)f->v[OK_INDEX][0]) << 1 | (f->v[OK_MASTER][0] != 0);
	p.flags = (uint32_t)f->v[OK_FLAGS][0];
	p.fown = fown;
	p.regf_id = ++m->lastid;
	if (makereg_open(m, f, p.regf_id, true) == -1)
		return -1;
	e.tty = &p;
	criuimg_add(m->files, &e.base);
	for (i = 0; i < m->ntty; i++)
		if (m->tty[i] == p.tty_info_id)
			return 0;
	if (VEC_ROOM(m->tty, m->ntty) == -1)
		return -1;
	m->tty[m->ntty++] = p.tty_info_id;
	return info_add(m, f, k, p.tty_info_id);
}

/*
 * Note what becomes of descriptor fd of t, which leads to a terminal of who is
 * not in the snapshot: once of all that lead to it.  criu has it then, and is
 * to stay where that is.
 */
int
maketty_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	const struct makeopen *f = fd->open;
	const struct maketask *leader;
	const bool own = kind_get(f)->type == CONTROLLING;

	if (own ? !is_session(m, f) : f != outer_find(m))
		return 0;
	m->need |= CRIU_SHELL_JOB | CRIU_TERMINAL;
	if (own)
		return make_note(m, "process %" PRIu64 ", descriptor %" PRIu64
		    ": %s is the terminal of the session that criu is in when "
		    "it is restored", t->proc->pid, fd->fd, f->path);
	if (make_note(m, "process %" PRIu64 ", descriptor %" PRIu64 ": %s is "
	    "the terminal that criu has for its standard input when it is "
	    "restored", t->proc->pid, fd->fd, f->path) == -1)
		return -1;
	leader = leader_find(m, f);
	return leader == NULL ? 0 : make_note(m, "process %" PRIu64 ": its "
	    "session has no controlling terminal when it is restored",
	    leader->proc->pid);
}
