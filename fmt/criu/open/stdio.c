/*
 * Restore standard input, output and error that lead out of the snapshot: pipes
 * and UNIX sockets whose other end is held by a process outside it, such as a
 * container engine or the journal of systemd(1). They become those of criu(8)
 * itself, which its option --inherit-fd arranges.
 */
#include "open.h"

enum { STANDARD = 3 };		/* number of standard streams: see stdin(3) */

/*
 * Return the first open file that has the same inode as f. Its members stdio,
 * stdio_noted and data apply to the inode.
 */
static struct makeopen *
inode_first(const struct criumake *m, const struct makeopen *f)
{
	return makefind_inode(m, f->type, f->v[OK_INO][0]);
}

/*
 * Find the pipes and UNIX sockets that are the standard input, output or error
 * of a process. For each, find the first process that uses it in this way, and
 * the first open file that has the same inode. Set the member "stdio" of that
 * open file to 1 plus the descriptor number in that process.
 */
void
makestdio_find(struct criumake *m)
{
	const struct maketask *t;
	struct makeopen *f;
	size_t i, k;

	for (i = 0; i < m->norder; i++)
		for (t = m->order[i], k = 0; k < t->nfd &&
		    t->fd[k].fd < STANDARD; k++) {
			f = t->fd[k].open;
			if (!makeopen_has(f, OK_INO) ||
			    !(f->type == KIND_PIPE ||
			    f->type == KIND_UNIX))
				continue;
			f = inode_first(m, f);
			if (f->stdio == 0)
				f->stdio = (unsigned int)t->fd[k].fd + 1;
		}
}

/*
 * Return true if criu can put its own standard input, output or error in place
 * of f: f is then a pipe or a UNIX socket, and its other end is outside the
 * snapshot.
 */
bool
makestdio_isoutside(const struct criumake *m, const struct makeopen *f)
{
	if (!makeopen_has(f, OK_INO) || inode_first(m, f)->stdio == 0)
		return false;
	if (f->type == KIND_PIPE)
		return f->v[OK_ALONE][0] == 0 && f->ends != PIPE_BOTH;
	return f->type == KIND_UNIX && makeunix_isoutside(m, f) &&
	    !makeunix_external(m, f);
}

/*
 * Return the number of unread bytes in pipe or UNIX socket f.
 */
static uint64_t
waiting(const struct criumake *m, const struct makeopen *f)
{
	struct recfile data;
	size_t packets;

	if (f->type == KIND_UNIX)
		return makequeue_bytes(m, f, &packets);
	return makefind_data(m, "pipe", f->v[OK_INO][0], &data) ? data.len : 0;
}

/*
 * Record how criu will restore descriptor fd of t, and add --inherit-fd to
 * criu's command line. Do this only once for each pipe or socket. The caller
 * must have checked that the descriptor refers to one whose other end is
 * outside the snapshot. Return 0, or -1 with errstr set.
 */
int
makestdio_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	static const char *const name[STANDARD] = { "input", "output",
	    "error" };
	const struct makeopen *f = fd->open;
	struct makeopen *first = inode_first(m, f);
	char word[64];
	uint64_t lost;

	if (first->stdio_noted)
		return 0;
	first->stdio_noted = true;
	snprintf(word, sizeof word, "fd[%u]:%s:[%" PRIu32 "]",
	    first->stdio - 1, f->type == KIND_PIPE ? "pipe" : "socket",
	    (uint32_t)f->v[OK_INO][0]);
	make_word(m, "--inherit-fd", word);
	if ((lost = waiting(m, f)) > 0 && make_note(m, t, fd, "%" PRIu64 " "
	    "unread bytes in it are lost when it is restored", lost) == -1)
		return -1;
	return make_note(m, t, fd, "becomes the standard %s of criu when it is "
	    "restored", name[first->stdio - 1]);
}
