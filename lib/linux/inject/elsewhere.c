/*
 * On other machines than x86-64 no process is made to run system calls: it is
 * told, and nothing of it is asked.
 */
#include "inject.h"

#ifndef __x86_64__

#include <stddef.h>

static int
unknown(void)
{
	return errstr_set("on this machine that is not known how");
}

void
inject_learn(pid_t pid, const struct vmas *l)
{
	(void)pid;
	(void)l;
}

struct inject *
inject_begin(pid_t pid, bool room, const struct vmas *l)
{
	(void)pid;
	(void)room;
	(void)l;
	(void)unknown();
	return NULL;
}

struct inject *
inject_alone(pid_t pid, const struct vmas *l)
{
	return inject_begin(pid, false, l);
}

int
inject_thread(struct inject *in, pid_t tid)
{
	(void)in;
	(void)tid;
	return unknown();
}

int
inject_call(struct inject *in, int64_t *ret, long nr, const uint64_t arg[6])
{
	(void)in;
	(void)ret;
	(void)nr;
	(void)arg;
	return unknown();
}

bool
inject_islate(const struct inject *in)
{
	(void)in;
	return true;
}

uint64_t
inject_scratch(const struct inject *in)
{
	(void)in;
	return 0;
}

int
inject_read(struct inject *in, void *buf, size_t len)
{
	(void)in;
	(void)buf;
	(void)len;
	return unknown();
}

int
inject_write(struct inject *in, const void *buf, size_t len)
{
	(void)in;
	(void)buf;
	(void)len;
	return unknown();
}

int
inject_clone(struct inject *in, pid_t *pid, pid_t *inner)
{
	(void)in;
	*pid = *inner = -1;
	return unknown();
}

int
inject_willclone(pid_t tid)
{
	(void)tid;
	return 0;
}

struct inject *
inject_entrust(const struct inject *in, pid_t clone)
{
	(void)in;
	(void)clone;
	(void)unknown();
	return NULL;
}

int
inject_shed(struct inject *c)
{
	(void)c;
	return unknown();
}

int
inject_resume(struct inject *c)
{
	(void)c;
	return unknown();
}

int
inject_relinquish(struct inject *c, int rc)
{
	(void)c;
	return rc;
}

int
inject_end(struct inject *in, int rc)
{
	(void)in;
	return rc;
}

int
inject_enterone(struct inject *in, pid_t tid)
{
	return inject_thread(in, tid);
}

int
inject_leaveone(struct inject *in, int rc)
{
	(void)in;
	return rc;
}

void
inject_free(struct inject *in)
{
	(void)in;
}

#else

/* ISO C has no file without a declaration */
struct inject;

#endif
