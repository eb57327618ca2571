/*
 * All the processes whose clones are to be reaped (reaper.c): what the guard is
 * told of them, and the reaping of one after another, or apart.
 */
#include "cloning.h"
#include "vec.h"

#include <sys/wait.h>

#include <errno.h>
#include <unistd.h>

/*
 * Remember what is told by w: a new ward, or the clone of one that is known.
 * Return 0, or -1 with errstr.
 */
int
wards_add(struct wards *l, const struct ward *w)
{
	size_t i;

	for (i = l->n; w->clone != 0 && i-- > 0;)
		if (l->v[i].target == w->target && l->v[i].clone == 0) {
			l->v[i] = *w;
			return 0;
		}
	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	l->v[l->n++] = *w;
	return 0;
}

/*
 * Sweep wards from number i on, one after another in a process of their own,
 * which ends with the first that does not go at once, whatever state it is in
 * then.  Return the number of that one; l->n if there is none.
 */
static size_t
wards_sweep(const struct wards *l, size_t i)
{
	enum { MOST = 200 };	/* it is told by an exit status */
	int n, status;
	pid_t pid, rc;

	if ((pid = fork()) == 0) {
		for (n = 0; n < MOST && i < l->n && ward_sweep(&l->v[i]); n++)
			i++;
		_exit(n);
	}
	if (pid == -1)
		return i;
	while ((rc = waitpid(pid, &status, 0)) == -1 && errno == EINTR)
		continue;
	if (rc != pid || !WIFEXITED(status))
		return i;
	i += (size_t)WEXITSTATUS(status);
	return WEXITSTATUS(status) == MOST ? wards_sweep(l, i) : i;
}

/*
 * Reap what is left of all wards, and exit: with 1 if a clone stays.
 */
void __attribute__((noreturn))
wards_reap(struct wards *l)
{
	size_t i;
	pid_t pid;
	int status;
	bool done;

	done = true;
	/* one may take long: none waits for another */
	for (i = 0; (i = wards_sweep(l, i)) < l->n; i++) {
		pid = i + 1 == l->n ? -1 : fork();
		if (pid > 0)
			continue;
		done &= ward_reap(&l->v[i]);
		if (pid == 0)
			_exit(done ? 0 : 1);
	}
	while ((pid = wait(&status)) != -1 || errno == EINTR)
		done &= pid == -1 || status == 0;
	_exit(done ? 0 : 1);
}
