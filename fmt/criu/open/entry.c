/*
 * Set the fields of entries in files.img that no key of the record supplies,
 * for kinds without a source file of their own: pipes, epoll, timers, memfd,
 * pidfd.
 */
#include "open.h"

#include <fcntl.h>

/*
 * Append the buffered bytes and the capacity of pipe or FIFO f to the image
 * called name. Do this only once for all open files of the pipe.
 */
static int
pipe_data(struct criumake *m, const struct makeopen *f, uint32_t magic,
    const char *name)
{
	Criu__PipeData e = CRIU__PIPE_DATA__INIT;
	struct makeopen *first;
	struct recfile data;
	struct buf *b;

	first = makefind_inode(m, f->type, f->v[OK_INO][0]);
	if (first->data)
		return 0;
	first->data = true;
	if ((b = make_common(m, magic, name)) == NULL)
		return -1;
	makefind_data(m, "pipe", f->v[OK_INO][0], &data);
	if (data.len > UINT32_MAX)
		return errstr_set("pipe/%" PRIu64 ": %zu bytes: too large "
		    "for an image", f->v[OK_INO][0], data.len);
	e.pipe_id = (uint32_t)f->v[OK_INO][0];
	e.bytes = (uint32_t)data.len;
	e.has_size = makeopen_has(f, OK_CAPACITY);
	e.size = (uint32_t)f->v[OK_CAPACITY][0];
	criuimg_add(b, &e.base);
	buf_add(b, data.data, data.len);
	return 0;
}

/*
 * The functions below set the fields of msg, the message of open file f, that
 * no key supplies, and write the other images that f needs. They return 0, or
 * -1 with errstr set.
 */

int
makepipe_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__Pipe *p = msg;

	p->pipe_id = (uint32_t)f->v[OK_INO][0];
	return pipe_data(m, f, CRIU_PIPES_DATA, "pipes-data.img");
}

int
makefifo_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__Fifo *p = msg;

	p->has_pipe_id = p->has_regf_id = true;
	p->pipe_id = (uint32_t)f->v[OK_INO][0];
	p->regf_id = ++m->lastid;
	return makereg_open(m, f, p->regf_id, true) == -1 ? -1 :
	    pipe_data(m, f, CRIU_FIFO_DATA, "fifo-data.img");
}

int
makeepoll_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const struct openline *l;
	Criu__EpollTarget *t;
	size_t i, n;

	l = makekeys_lines(f, OK_TARGET, &n);
	t = MSG_MANY(&m->msgs, (Criu__Epoll *)msg, tfd, n);
	for (i = 0; t != NULL && i < n; i++) {
		t[i].id = f->id;
		makeline_fill(&l[i], &t[i].base);
	}
	return t == NULL ? -1 : 0;
}

/*
 * Set in msg the interval of timer f and the time left. A periodic timer that
 * has expired but was not read has no time left: give it a full interval,
 * because 0 would disarm it. With TFD_TIMER_ABSTIME, criu adds the seconds of
 * the clock to the time left, even if that is 0 (timerfd_arm() in its
 * pie/restorer.c): clear this flag unless the timer is armed and must follow
 * changes of the real time. Return 0.
 */
int
maketimerfd_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	enum { ABSTIME = 1, REALTIME = 0, REALTIME_ALARM = 8 };
	const uint64_t every = f->v[OK_INTERVAL][0], clock = f->v[OK_CLOCK][0];
	uint64_t left = f->v[OK_LEFT][0];
	Criu__Timerfd *t = msg;

	(void)m;
	if (left == 0 && f->v[OK_TICKS][0] > 0)
		left = every;
	if (left == 0 || (clock != REALTIME && clock != REALTIME_ALARM))
		t->settime_flags &= ~(uint32_t)ABSTIME;
	MSG_FILL(t, "vsec vnsec isec insec",
	    ((uint64_t[]){ left / NSEC, left % NSEC, every / NSEC,
	    every % NSEC }));
	return 0;
}

int
makememfd_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	struct makeshm *o;

	o = makeshm_get(m, f->v[OK_DEV][0], f->v[OK_INO][0], f->user);
	if (o == NULL)
		return -1;
	o->open = f;
	if (makeopen_has(f, OK_HUGEPAGES))
		o->huge = f->v[OK_HUGEPAGES][0];
	((Criu__MemfdFile *)msg)->inode_id = (uint32_t)(o - m->shm) + 1;
	return 0;
}

int
makepidfd_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const struct maketask *t = maketask_find(m, f->v[OK_PID][0]);
	Criu__Pidfd *p = msg;

	p->flags &= ~(uint32_t)O_RDWR;
	p->nspid = t == NULL ? -1 : (int32_t)t->pid;
	make_since(m, SINCE_PIDFD);
	return 0;
}
