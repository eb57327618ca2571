/*
 * Hold TCP connections of processes that are moved. They are locked before any
 * of them is read (tcplock.c), separately in each network namespace, so that
 * the peers notice nothing until the connections are restored.
 */
#include "bisect.h"
#include "sockets.h"
#include "vec.h"

#include <sys/syscall.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * r describes a socket of the process that pidfd refers to. If it is a TCP
 * connection, add it to the connections that are to be locked in s, the network
 * namespace of the process.
 */
static int
held_add(struct netspace *s, int pidfd, const struct fdref *r)
{
	int fd, is;

	fd = (int)syscall(SYS_pidfd_getfd, pidfd, r->fd, 0);
	if (fd == -1)
		return 0;
	is = tcpunlock_add(s, fd);
	close(fd);
	return is == 1 ? VEC_ADD(s->held, s->nheld, r->file->ino) : is;
}

/*
 * Collect the TCP connections of all processes of f, separately for each
 * network namespace.
 */
static int
held_gather(struct files *f)
{
	const struct fdset *set;
	const struct fdref *r;
	struct netspace *s;
	size_t i, k;
	int pidfd, rc;

	for (rc = 0, i = 0; i < f->nset && rc == 0; i++) {
		set = &f->set[i];
		pidfd = (int)syscall(SYS_pidfd_open, set->pid, 0);
		if (pidfd == -1)	/* its first thread has ended */
			pidfd = (int)syscall(SYS_pidfd_open, set->pid,
			    O_EXCL /* PIDFD_THREAD */);
		if (pidfd == -1)
			continue;
		if ((s = net_get(f, set->pid)) == NULL)
			rc = errstr_set("cannot identify the network "
			    "namespace of the connections");
		for (k = 0; k < set->n && rc == 0; k++) {
			r = &set->v[k];
			/* criu deletes the rules of a connection once */
			if (!S_ISSOCK(r->mode) || r->file->held)
				continue;
			r->file->held = true;
			rc = held_add(s, pidfd, r);
		}
		close(pidfd);
	}
	return rc;
}

/*
 * Lock all TCP connections of the processes of l, with nft or, if that fails,
 * with iptables, so that no packet gets through. The caller must have stopped
 * the processes and listed their descriptors. If locking fails, report that,
 * and unlock all connections; they will be closed on restore.
 */
void
tcphold_begin(struct live *l)
{
	struct files *f = l->files;
	struct netspace *s;
	unsigned int by;
	int rc;

	rc = held_gather(f);
	for (s = f->net; s != NULL && rc == 0; s = s->next) {
		rc = s->nheld > 0 ? -1 : 0;
		for (by = LOCK_NFT; rc == -1 && by < LOCKERS; by++)
			rc = tcpunlock_lock(s, by);
	}
	if (rc == 0)
		return;
	l->tcpcloses = true;
	live_say(l, "TCP connections will not be moved: %s", snap_errstr());
	(void)tcphold_end(l, false);
}

/*
 * Return true if the socket with inode ino is a locked connection of f.
 */
bool
tcphold_has(const struct files *f, uint64_t ino)
{
	const struct netspace *s;

	for (s = f->net; s != NULL; s = s->next)
		if (s->locked && SEEK(s->held, s->nheld, *x == ino) != NULL)
			return true;
	return false;
}

/*
 * If pid is the first process that was found in a network namespace, record in
 * rec how the connections of that namespace are locked, if they are.
 */
void
tcphold_record(const struct files *f, pid_t pid, struct filelist *rec)
{
	const struct netspace *s;

	for (s = f->net; s != NULL; s = s->next) {
		if (!s->locked || s->first != pid)
			continue;
		if (s->by == LOCK_NFT)
			filelist_text(rec, "netlock", "nft %s\n", s->table);
		else
			filelist_text(rec, "netlock", "iptables\n");
	}
}

/*
 * Stop holding the TCP connections of l. If moved is set, leave the connections
 * locked, otherwise unlock them. If any stay locked, report how to unlock them,
 * and return true.
 */
bool
tcphold_end(struct live *l, bool moved)
{
	struct netspace *s = l->files == NULL ? NULL : l->files->net;
	const bool stay = tcpunlock_end(!moved) == -1 || moved;
	bool any = false;

	for (; s != NULL; s = s->next) {
		any |= s->locked && stay;
		if (s->locked && stay && s->by == LOCK_NFT)
			live_say(l, "TCP connections stay locked until they "
			    "are restored on this machine or \"nft delete "
			    "table inet %s\" is run", s->table);
		else if (s->locked && stay)
			live_say(l, "TCP connections stay locked until they "
			    "are restored on this machine or the iptables(8) "
			    "rules with mark 0xc114 are deleted");
		s->locked = false;
	}
	return any;
}

/*
 * Report when connections may be unlocked that stay locked and are not in
 * TCP_REPAIR mode: when their processes are killed, they try to send a FIN.
 */
void
tcphold_wait(const struct live *l)
{
	live_say(l, "if their processes are killed here, unlock them only when "
	    "\"ss -tn\" no longer shows them: otherwise their peers are told "
	    "that they end");
}
