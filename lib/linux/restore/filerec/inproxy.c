/*
 * Record open files in the proxy. A call on a pipe, a socket or a terminal may
 * wait for a lock that a thread of a target holds while it reads or writes
 * memory whose pages never arrive. Many files are sent to the proxy at once,
 * because waiting for one answer takes longer than computing it.
 */
#include "filerec.h"

#include <unistd.h>

struct inproxy_request {	/* argument of inproxy_serve() */
	struct filerec	 t;	/* file to record; in the proxy, only its
				   scalars and "proxyrec" are valid */
	pid_t		 pid;	/* ID of the process */
	pid_t		 mmtid;	/* ID of a thread that has the memory of process
				   pid */
	bool		 move;	/* value of live->opts.move */
	uint64_t	 budget;
};

struct inproxy_reply {		/* head of the answer */
	uint64_t	 spent;	/* number of bytes taken from the budget */
	char		 why[sizeof ((struct filerec *)NULL)->why];
	bool		 failed; /* the proxy ran out of memory */
	size_t		 len;	/* size of the record's lines, which follow */
	char		 name[64]; /* name of the file whose data follows the
				      lines of the record; "": none */
};

/*
 * In the proxy, answer with the record of t: its lines, and the first file of
 * t->data. spent is the number of bytes taken from the budget.
 */
static void
reply_put(struct serving *s, const struct filerec *t, uint64_t spent)
{
	struct inproxy_reply a = { .spent = spent, .len = t->out.len };
	const struct filelist *l = t->data;

	a.failed = t->out.failed || l->failed;
	memcpy(a.why, t->why, sizeof a.why);
	if (l->n > 0)
		strlcpy(a.name, l->file[0].name, sizeof a.name);
	serve_put(s, &a, sizeof a);
	serve_put(s, t->out.data, t->out.len);
	if (l->n > 0)
		serve_put(s, l->file[0].data, l->file[0].len);
}

/*
 * In the proxy, run proxyrec for one file, and answer with the record. The
 * variable files is static, because later requests may use the network
 * namespaces and the new sockets in it. Return 0.
 */
static int
inproxy_serve(struct serving *s)
{
	static struct files files;
	static struct live live = { .files = &files };
	struct filelist data = { 0 };
	struct lproc proc = { 0 };
	struct inproxy_request a;
	struct filerec *t = &a.t;

	memcpy(&a, s->arg, sizeof a);
	live.opts.move = a.move;
	files.budget = a.budget;
	proc.pid = a.pid;
	proc.mmtid = a.mmtid;
	t->live = &live;
	t->proc = &proc;
	t->data = &data;
	t->dup = s->fd;
	t->link = t->info = NULL;
	memset(&t->out, 0, sizeof t->out);
	t->proxyrec(t);
	reply_put(s, t, a.budget - files.budget);
	buf_free(&t->out);
	filelist_free(&data);
	return 0;
}

/*
 * Append the proxy's answer to question q to the record of t. If there was no
 * answer, set the reason in t.
 */
static void
reply_add(struct filerec *t, struct proxy_asked *q)
{
	struct files *f = t->live->files;
	struct inproxy_reply reply;
	struct bytes answer;

	if (q->rc == -1 || bulk_finish(&q->to, &answer.data, &answer.len) ==
	    -1) {
		bulk_free(&q->to);
		if (t->out.len == 0)
			filerec_type(t, "other");
		tell_why(t, "cannot read it: %s", q->why);
		return;
	}
	memcpy(&reply, answer.data, sizeof reply);
	f->budget -= reply.spent < f->budget ? reply.spent : f->budget;
	memcpy(t->why, reply.why, sizeof t->why);
	t->out.failed |= reply.failed;
	buf_add(&t->out, answer.data + sizeof reply, reply.len);
	if (*reply.name != '\0')
		filelist_copy(t->data, reply.name, answer.data + sizeof reply +
		    reply.len, answer.len - sizeof reply - reply.len);
	free(answer.data);
}

/*
 * For each of the n files at v (at most FILEREC_BATCH) that has a proxyrec,
 * make the proxy run proxyrec on the duplicate descriptor dup. Append the lines
 * of the answer to the record of the file.
 *
 * Pointers are not valid in the proxy. proxyrec can use only the numbers in the
 * struct filerec, the pid and mmtid of the process, opts.move and the budget.
 */
void
filerec_viaproxy(struct filerec *v, size_t n)
{
	struct proxy_asked q[FILEREC_BATCH];
	struct inproxy_request a[FILEREC_BATCH];
	char what[FILEREC_BATCH][256];
	struct filerec *t;
	size_t i;

	for (i = 0, t = v; t < v + n; t++) {
		if (t->proxyrec == NULL)
			continue;
		a[i] = (struct inproxy_request){ *t, t->proc->pid,
		    t->proc->mmtid, t->live->opts.move,
		    t->live->files->budget };
		q[i] = (struct proxy_asked){ .q = { filerec_key(t, 0, what[i],
		    sizeof what[i]), inproxy_serve, &a[i], sizeof a[i],
		    t->dup },
		    .to = { .full = true } };	/* keep the data in memory */
		i++;
	}
	proxy_fetchall(q, i);
	for (i = 0, t = v; t < v + n; t++)
		if (t->proxyrec != NULL)
			reply_add(t, &q[i++]);
}
