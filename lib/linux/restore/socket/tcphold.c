/*
 * Connections of TCP that go along when their processes are moved: they are
 * locked before the first is read (tcplock.c), those of each network namespace
 * by themselves, so that the other end sees nothing until they are restored.
 */
#include "tcphold.h"
#include "vec.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <netinet/tcp.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Return those of f that are in the network namespace of process pid, or NULL
 * with errstr.
 */
static struct tcphold *
hold_get(struct files *f, pid_t pid)
{
	struct tcphold *h, **last;
	struct stat st;
	int ns;

	ns = proc_open(pid, 0, "ns/net", O_RDONLY);
	if (ns == -1 || fstat(ns, &st) == -1) {
		fd_drop(ns);
		errstr_set("their network namespace cannot be had");
		return NULL;
	}
	for (last = &f->hold; (h = *last) != NULL; last = &h->next)
		if (h->ns == st.st_ino) {
			close(ns);
			return h;
		}
	if ((h = calloc(1, sizeof *h)) == NULL) {
		close(ns);
		errstr_set("out of memory");
		return NULL;
	}
	*last = h;
	h->ns = st.st_ino;
	h->first = pid;
	h->fd = ns;
	return h;
}

/*
 * Add a socket of a process, if it is a connection, to those that are held.
 * Return 0, or -1 with errstr.
 */
static int
hold_add(struct tcphold *h, int pidfd, const struct fdref *r)
{
	int fd, is;

	fd = (int)syscall(SYS_pidfd_getfd, pidfd, r->fd, 0);
	if (fd == -1)
		return 0;
	is = tcpkeep_look(h, fd);
	close(fd);
	if (is == 1 && VEC_ROOM(h->ino, h->n) == -1)
		return -1;
	if (is == 1)
		h->ino[h->n++] = r->file->ino;
	return is == -1 ? -1 : 0;
}

/*
 * Have the connections of the processes in f->hold.
 */
static int
hold_gather(struct files *f)
{
	const struct fdset *set;
	const struct resource *last;
	struct tcphold *h;
	size_t i, k;
	int pidfd, rc;

	for (rc = 0, i = 0; i < f->nset && rc == 0; i++) {
		set = &f->set[i];
		pidfd = (int)syscall(SYS_pidfd_open, set->pid, 0);
		if (pidfd == -1)
			continue;
		if ((h = hold_get(f, set->pid)) == NULL)
			rc = -1;
		for (last = NULL, k = 0; k < set->n && rc == 0; k++) {
			if (!S_ISSOCK(set->v[k].mode) ||
			    set->v[k].file == last)
				continue;
			last = set->v[k].file;
			rc = hold_add(h, pidfd, &set->v[k]);
		}
		close(pidfd);
	}
	return rc;
}

/*
 * Lock the connections of h by what there is for that.  Return 0, or -1 with
 * errstr.
 */
static int
hold_lock(struct tcphold *h)
{
	unsigned int by;
	int rc;

	for (rc = -1, by = LOCK_NFT; rc == -1 && by < LOCKERS; by++)
		rc = tcpkeep_lock(h, by);
	return rc;
}

/*
 * Lock all connections of TCP of the processes of set l, which are stopped and
 * whose descriptors were listed.  Where that cannot be done, say so: they are
 * closed then when they are restored.
 */
void
tcphold_begin(struct live *l)
{
	struct files *f = l->files;
	struct tcphold *h;
	int rc;

	rc = hold_gather(f);
	for (h = f->hold; h != NULL && rc == 0; h = h->next)
		if (h->n > 0)
			rc = hold_lock(h);
	if (rc == 0)
		return;
	live_say(l, "connections of TCP do not go along: %s", snap_errstr());
	tcpkeep_end(true);
	for (h = f->hold; h != NULL; h = h->next)
		h->locked = false;
}

/*
 * Return true if the socket with inode ino is a connection of f that is locked.
 */
bool
tcphold_has(const struct files *f, uint64_t ino)
{
	const struct tcphold *h;
	size_t i;

	for (h = f->hold; h != NULL; h = h->next)
		for (i = 0; h->locked && i < h->n; i++)
			if (h->ino[i] == ino)
				return true;
	return false;
}

/*
 * Tell by what connections of f are locked, in rec, the record of the process
 * that pid is a thread of, if it is the first that is in their network
 * namespace.
 */
void
tcphold_record(const struct files *f, pid_t pid, struct filelist *rec)
{
	const struct tcphold *h;

	for (h = f->hold; h != NULL; h = h->next) {
		if (!h->locked || h->first != pid)
			continue;
		if (h->by == LOCK_NFT)
			filelist_text(rec, "netlock", "nft %s\n", h->name);
		else
			filelist_text(rec, "netlock", "iptables\n");
	}
}

/*
 * Have all connections of set l end without a word when their last descriptor
 * is closed: their processes are about to be killed.
 */
void
tcphold_leave(struct live *l)
{
	if (l->files != NULL && l->files->hold != NULL)
		tcpkeep_repair();
}

static void
hold_end(struct live *l, struct tcphold *h, bool moved)
{
	if (h->locked && moved && h->by == LOCK_NFT)
		live_say(l, "connections of TCP are locked here until they are "
		    "restored here, or until \"nft delete table inet %s\"",
		    h->name);
	else if (h->locked && moved)
		live_say(l, "connections of TCP are locked here until they are "
		    "restored here, or until the rules of iptables(8) are "
		    "deleted that have the mark 0xc114");
	close(h->fd);
	free(h->ino);
	free(h);
}

/*
 * End the holding of connections of set l. moved: their processes were killed,
 * and they stay locked, which is said; else all is as before.
 */
void
tcphold_end(struct live *l, bool moved)
{
	struct tcphold *h;

	tcpkeep_end(!moved);
	while (l->files != NULL && (h = l->files->hold) != NULL) {
		l->files->hold = h->next;
		hold_end(l, h, moved);
	}
}
