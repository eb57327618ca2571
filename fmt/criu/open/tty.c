/*
 * Write terminals as CRIU images: an entry in files.img for each open terminal,
 * and an entry in tty-info.img for each end of one.
 */
#include "open.h"
#include "bisect.h"

#include <sys/sysmacros.h>

enum { CCS = 19 }; /* number of control characters in "c_cc", one byte each */

enum { CONTROLLING = 4 };	/* criu's type for /dev/tty */

/*
 * criu's types of terminals (its images/tty.proto), and the fixed indexes that
 * it gives to terminals without a number of their own (its tty.c).
 */
static const struct kind {
	unsigned int	 major;
	unsigned int	 first;	/* first minor number */
	unsigned int	 last;
	uint32_t	 type;
	uint32_t	 index;	/* fixed index; 0: each terminal has its own
				   index */
} kinds[] = {
	{ 5, 2, 2, 1, 0 },		/* master of a pseudoterminal */
	{ 136, 0, 255, 1, 0 },		/* slave of a pseudoterminal */
	{ 5, 0, 0, CONTROLLING, 1006 },	/* /dev/tty */
	{ 5, 1, 1, 2, 1002 },		/* console */
	{ 4, 0, 63, 3, 1004 },		/* virtual terminal */
	{ 188, 0, 255, 6, 1010 },	/* serial lines */
	{ 204, 0, 255, 6, 1010 }
};

/*
 * Return the entry for the kind of terminal f, or NULL if the kind is unknown.
 */
static const struct kind *
kind_get(const struct makeopen *f)
{
	const uint64_t dev = f->v[OK_RDEV][0];

	return SEEK_IN(kinds, major(dev) == x->major &&
	    minor(dev) >= x->first && minor(dev) <= x->last);
}

/*
 * Return an open file, other than f, that is restored and is the master of the
 * pseudoterminal of f. Return NULL if there is none.
 */
static const struct makeopen *
master_find(const struct criumake *m, const struct makeopen *f)
{
	return PSEEK(m->open, m->nopen, x != f && makeopen_written(x) &&
	    x->type == KIND_TTY && makeopen_has(x, OK_INDEX) &&
	    x->v[OK_INDEX][0] == f->v[OK_INDEX][0] &&
	    x->v[OK_MASTER][0] != 0);
}

/*
 * Return true if f becomes the terminal of criu, because f is an end of a
 * pseudoterminal whose master is not restored.
 */
static bool
is_outer(const struct criumake *m, const struct makeopen *f)
{
	return makeopen_written(f) && f->type == KIND_TTY &&
	    makeopen_has(f, OK_INDEX) && f->v[OK_MASTER][0] == 0 &&
	    f->v[OK_HUNGUP][0] == 0 && master_find(m, f) == NULL;
}

/*
 * Return the first terminal that becomes the terminal of criu, or NULL if there
 * is none.
 */
static const struct makeopen *
outer_find(const struct criumake *m)
{
	return PSEEK(m->open, m->nopen, is_outer(m, x));
}

/*
 * Return the reason why f cannot be restored, or NULL if it can. The caller
 * must have checked that f is an end of a pseudoterminal whose master is not
 * restored. Only one such pseudoterminal can be restored: criu puts its own
 * terminal in the place of that one.
 */
static const char *
outer_obstacle(const struct criumake *m, const struct makeopen *f)
{
	const struct makeopen *first = outer_find(m);

	return first == NULL || first == f ||
	    first->v[OK_INDEX][0] == f->v[OK_INDEX][0] ? NULL :
	    "one of several terminals whose masters are outside the snapshot";
}

/*
 * Return the restored session leader whose controlling terminal is f or the
 * other end of f, or NULL if there is none.
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
		/* the inverse of new_encode_dev() in the kernel's
		   linux/kdev_t.h */
		if (nr != 0 && t->pid == t->sid && makedev(nr >> 8 & 0xfff,
		    (nr & 0xff) | (nr >> 12 & 0xfff00)) == dev)
			return t;
	}
	return NULL;
}

/*
 * Return true if f, which is /dev/tty, becomes the terminal of criu's session.
 * It does if the session leader of the process that has f is not restored: the
 * process then joins criu's session.
 */
static bool
is_session(const struct criumake *m, const struct makeopen *f)
{
	return f->user != NULL && maketask_leader(m, f->user->sid) == NULL;
}

/*
 * Return the reason why f, which is /dev/tty, cannot be restored, or NULL if it
 * can. criu opens /dev/tty in the process that has f, so the session of that
 * process must have a terminal. If the process joins criu's session, that is
 * criu's own terminal; otherwise it must be another terminal that is restored.
 */
static const char *
own_obstacle(const struct criumake *m, const struct makeopen *f)
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
	return "the terminal of a session, which is not open by its own name";
}

/*
 * Return the reason why terminal f cannot be restored, or NULL if it can.
 */
const char *
maketty_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct kind *k = kind_get(f);

	if (k == NULL || f->path == NULL || *f->path != '/' ||
	    (k->index == 0 && !makeopen_has(f, OK_INDEX)))
		return "a terminal of an unknown kind";
	if (f->v[OK_HUNGUP][0] != 0)
		return f->v[OK_MASTER][0] == 0 && k->index == 0 ? NULL :
		    "a terminal that was hung up";
	if (!makeopen_has(f, OK_TERMIOS) || !makeopen_has(f, OK_TERMLOCK) ||
	    !makeopen_has(f, OK_WINSIZE) || f->cclen[0] != CCS ||
	    f->cclen[1] != CCS)
		return "a terminal that is not fully recorded";
	if (k->type == CONTROLLING)
		return own_obstacle(m, f);
	if (k->index != 0)
		return NULL;
	if (f->v[OK_MASTER][0] == 0 && master_find(m, f) == NULL)
		return outer_obstacle(m, f);
	return f->v[OK_WAITING][0] == 0 ? NULL :
	    "a terminal with unread bytes";
}

/*
 * Set the terminal modes in e to f's numbers for this key, and the control
 * characters in e to cc.
 */
static int
termios_set(struct criumake *m, Criu__Termios *e, const struct makeopen *f,
    enum openkey key, const uint8_t *cc)
{
	size_t i;

	makekey_fill(f, key, &e->base);
	if (MSG_MANY(&m->msgs, e, c_cc, CCS) == NULL)
		return -1;
	for (i = 0; i < CCS; i++)
		e->c_cc[i / 4] |= (uint32_t)cc[i] << i % 4 * 8;
	return 0;
}

/*
 * Return the foreground process group of the terminal of leader, a session
 * leader. If that group is not restored, return leader's group.
 */
static uint32_t
foreground(const struct criumake *m, const struct maketask *leader)
{
	const struct maketask *t = PSEEK(m->order, m->norder,
	    x->sid == leader->sid && x->stat.v[STAT_PGRP] ==
	    leader->stat.v[STAT_TPGID]);

	return t == NULL ? leader->pgid : t->pgid;
}

/*
 * Set the modes and the window size in e to those of terminal f.
 */
static int
modes_set(struct criumake *m, const struct makeopen *f, Criu__TtyInfo *e)
{
	if (MSG_PART(&m->msgs, e, termios) == NULL ||
	    MSG_PART(&m->msgs, e, termios_locked) == NULL ||
	    MSG_PART(&m->msgs, e, winsize) == NULL)
		return -1;
	makekey_fill(f, OK_WINSIZE, &e->winsize->base);
	return termios_set(m, e->termios, f, OK_TERMIOS, f->cc[0]) == -1 ? -1 :
	    termios_set(m, e->termios_locked, f, OK_TERMLOCK, f->cc[1]);
}

/*
 * Append to tty-info.img an entry with number id for terminal f, which is of
 * kind k.
 */
static int
info_add(struct criumake *m, const struct makeopen *f, const struct kind *k,
    uint32_t id)
{
	Criu__TtyInfo e = CRIU__TTY_INFO__INIT;
	const struct maketask *leader;
	struct buf *b;

	if ((b = make_common(m, CRIU_TTY_INFO, "tty-info.img")) == NULL)
		return -1;
	makekeys_fill(f, &e.base);
	e.id = id;
	e.type = k->type;
	if ((leader = leader_find(m, f)) != NULL) {
		e.sid = leader->sid;
		e.pgrp = foreground(m, leader);
	}
	e.has_uid = e.has_gid = true;
	e.uid = makeusers_uid(m, f->v[OK_UID][0]);
	e.gid = makeusers_gid(m, f->v[OK_GID][0]);
	if (k->index == 0) {
		if (MSG_PART(&m->msgs, &e, pty) == NULL)
			return -1;
		makekey_fill(f, OK_INDEX, &e.pty->base);
	}
	if (f->v[OK_HUNGUP][0] == 0 && modes_set(m, f, &e) == -1)
		return -1;
	criuimg_add(b, &e.base);
	return 0;
}

/*
 * Fill in msg, the protobuf message of terminal f. Add an entry for this end of
 * the terminal to tty-info.img, unless it has one already. Return 0, or -1 with
 * errstr set.
 */
int
maketty_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const struct kind *k = kind_get(f);
	Criu__TtyFile *p = msg;

	p->has_tty_info_id = p->has_regf_id = true;
	p->tty_info_id = (k->index != 0 ? k->index :
	    (uint32_t)f->v[OK_INDEX][0]) << 1 | (f->v[OK_MASTER][0] != 0);
	p->regf_id = ++m->lastid;
	if (makereg_open(m, f, p->regf_id, true) == -1)
		return -1;
	if (SEEK(m->tty, m->ntty, *x == p->tty_info_id) != NULL)
		return 0;
	if (POOL_ADD(&m->pool, m->tty, m->ntty, p->tty_info_id) == -1)
		return -1;
	return info_add(m, f, k, p->tty_info_id);
}

/*
 * Record a note if the terminal of descriptor fd of t becomes criu's terminal
 * when it is restored. It does if its master is not restored, or if it is
 * /dev/tty and the session leader of t is not restored. criu then has to stay
 * in the foreground. Record the note only once for each terminal. Return 0, or
 * -1 with errstr set.
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
		return make_note(m, t, fd, "%s becomes the terminal of criu's "
		    "session when it is restored", f->path);
	if (make_note(m, t, fd, "%s becomes the terminal on criu's standard "
	    "input when it is restored", f->path) == -1)
		return -1;
	leader = leader_find(m, f);
	return leader == NULL ? 0 : make_note(m, leader, NULL, "its session "
	    "has no controlling terminal when it is restored");
}
