/*
 * Telling of a file in the proxy: what is asked of a pipe, a socket or a
 * terminal may wait for a lock that a thread of a target has while it reads or
 * writes memory which nobody serves.  The proxy is asked of many files at once,
 * for to wait for an answer takes longer than to find it.
 */
#include "filerec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct inproxy_request {			/* what is asked */
	struct filerec	 t;	/* its pointers but aside mean nothing there */
	pid_t		 pid;	/* these of its process */
	pid_t		 mmtid;
	bool		 move;	/* of the options */
	uint64_t	 budget;
};

struct inproxy_reply {		/* the lines of the file, */
	uint64_t	 spent;	/* of the budget */
	char		 why[sizeof ((struct filerec *)NULL)->why];
	bool		 failed; /* out of memory */
	size_t		 len;	/* bytes of the lines */
	char		 name[64]; /* and data that comes along; "": none */
};

/*
 * Answer with what was told of t.
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
 * Tell of a file for the proxy, which learns of sockets what we would.
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
 * Add the answer to q to what t has.
 */
static void
reply_add(struct filerec *t, struct proxy_asked *q)
{
	struct files *f = t->live->files;
	struct inproxy_reply reply;
	struct bytes answer;

	if (q->rc == -1 || bulk_finish(&q->to, &answer.data, &answer.len) ==
	    -1) {
		if (q->rc == -1)
			bulk_free(&q->to);
		if (t->out.len == 0)
			filerec_type(t, "other");
		tell_why(t, "it is not told of: %s", q->error == ETIMEDOUT ?
		    "no answer in time" : q->why);
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
 * Have the proxy call aside of those of n files v, TELLINGS at the most, that
 * have one, and a duplicate.  What it tells is added to what each has.  The
 * proxy has t->dup, the numbers of t and its process, whether processes are
 * moved, and what it learned of other files.
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
		    sizeof what[i]), inproxy_serve, &a[i], sizeof a[i], t->dup },
		    .to = { .full = true } };	/* in memory */
		i++;
	}
	proxy_fetchall(q, i);
	for (i = 0, t = v; t < v + n; t++)
		if (t->proxyrec != NULL)
			reply_add(t, &q[i++]);
}
