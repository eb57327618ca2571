/*
 * Keys of file/ID that take more than numbers, a string or bytes.  Each
 * function here takes a line: w->rest is what stands behind its numbers v.  It
 * returns 0; 1 if the line is not as it should be; or -1 with errstr.
 */
#include "facts.h"
#include "vec.h"

#include <arpa/inet.h>

#include <stdlib.h>
#include <string.h>

/*
 * Set f->path to the bytes of which a line has two digits each.
 */
int
makekey_path(struct makeopen *f, struct words *w, const uint64_t *v)
{
	uint8_t *bytes = NULL;
	size_t len;
	int rc;

	(void)v;
	rc = words_bytes(w, w->rest, &bytes, &len) == -1 ||
	    memchr(bytes, '\0', len) != NULL;
	if (rc == 0) {
		free(f->path);
		f->path = strndup((char *)bytes, len);
		if (f->path == NULL)
			rc = errstr_set("out of memory");
	}
	free(bytes);
	return rc;
}

/*
 * A connection that waits at a socket, by its inode.
 */
int
makekey_caller(struct makeopen *f, struct words *w, const uint64_t *v)
{
	(void)w;
	if (VEC_ROOM(f->caller, f->ncaller) == -1)
		return -1;
	f->caller[f->ncaller++] = v[0];
	return 0;
}

/*
 * A descriptor that waits in a socket: PACKET ID.
 */
int
makekey_passed(struct makeopen *f, struct words *w, const uint64_t *v)
{
	(void)w;
	if (f->npassed > 0 && v[0] < f->passed[f->npassed - 1].packet)
		return 1;
	if (VEC_ROOM(f->passed, f->npassed) == -1)
		return -1;
	f->passed[f->npassed].packet = v[0];
	f->passed[f->npassed++].id = v[1];
	return 0;
}

/*
 * Who sent what waits in a socket: PACKET UID GID PID.
 */
int
makekey_sender(struct makeopen *f, struct words *w, const uint64_t *v)
{
	enum { NOBODY = 65534 };	/* where the kernel does not know who */

	(void)w;
	f->sender |= v[1] != NOBODY || v[2] != NOBODY || v[3] != 0;
	return 0;
}

/*
 * A group of a netlink socket, from 1.
 */
int
makekey_member(struct makeopen *f, struct words *w, const uint64_t *v)
{
	enum { FEW = 32 };

	(void)w;
	if (v[0] == 0)
		return 1;
	f->members |= UINT64_C(1) << (v[0] > FEW ? FEW : v[0] - 1);
	return 0;
}

/*
 * What a packet socket listens for: INTERFACE COUNT TYPE ADDRESS, which is "-"
 * if it needs none.
 */
int
makekey_listens(struct makeopen *f, struct words *w, const uint64_t *v)
{
	struct makelistens *l;

	if (VEC_ROOM(f->listens, f->nlistens) == -1)
		return -1;
	l = &f->listens[f->nlistens++];
	memset(l, 0, sizeof *l);
	l->interface = v[0];
	l->count = v[1];
	l->type = v[2];
	return strcmp(w->rest, "-") == 0 ? 0 :
	    words_bytes(w, w->rest, &l->address, &l->len);
}

/*
 * What an epoll set waits for: DESCRIPTOR EVENTS DATA ID, which is "-" of a
 * file that is not in the record.
 */
int
makekey_target(struct makeopen *f, struct words *w, const uint64_t *v)
{
	uint64_t id = NOFILE;
	struct maketarget *t;

	if (strcmp(w->rest, "-") != 0 && !number_parse(w->rest, 'd', &id))
		return 1;
	if (VEC_ROOM(f->target, f->ntarget) == -1)
		return -1;
	t = &f->target[f->ntarget++];
	t->fd = v[0];
	t->events = v[1];
	t->data = v[2];
	t->id = id;
	return 0;
}

/*
 * Add watch e, of which a line has what stands behind its numbers, to f: the
 * bytes of a handle, if that is asked for, and a path, which may have blanks
 * and is "-" if it is not known.
 */
static int
watch_add(struct makeopen *f, struct words *w, const struct makewatch *e,
    bool handle)
{
	struct makewatch *t;
	char *path = w->rest;

	if (handle) {
		if ((path = strchr(w->rest, ' ')) == NULL)
			return 1;
		*path++ = '\0';
	}
	if (VEC_ROOM(f->watch, f->nwatch) == -1)
		return -1;
	t = &f->watch[f->nwatch++];
	*t = *e;
	if (handle && words_bytes(w, w->rest, &t->handle, &t->len) == -1)
		return -1;
	if (strcmp(path, "-") != 0 && (t->path = strdup(path)) == NULL)
		return errstr_set("out of memory");
	return 0;
}

/*
 * A watch of inotify(7): NUMBER EVENTS DEVICE INODE TYPE HANDLE PATH.
 */
int
makekey_watch(struct makeopen *f, struct words *w, const uint64_t *v)
{
	const struct makewatch e = { .wd = v[0], .mask = v[1], .dev = v[2],
	    .ino = v[3], .type = v[4] };

	return watch_add(f, w, &e, true);
}

/*
 * A mark of fanotify(7): FLAGS EVENTS IGNORED DEVICE INODE TYPE HANDLE PATH.
 */
int
makekey_mark(struct makeopen *f, struct words *w, const uint64_t *v)
{
	const struct makewatch e = { .flags = v[0], .mask = v[1],
	    .ignored = v[2], .dev = v[3], .ino = v[4], .type = v[5] };

	return watch_add(f, w, &e, true);
}

/*
 * A mark of a mount: FLAGS EVENTS IGNORED MOUNT PATH.
 */
int
makekey_mountmark(struct makeopen *f, struct words *w, const uint64_t *v)
{
	const struct makewatch e = { .flags = v[0], .mask = v[1],
	    .ignored = v[2], .mounted = true };

	return watch_add(f, w, &e, false);
}

/*
 * Set a to an address and a port.
 */
static int
address_read(struct makeaddress *a, struct words *w)
{
	struct in_addr v4;
	uint64_t port;

	memset(a, 0, sizeof *a);
	if (words_split(w, w->rest) == -1)
		return -1;
	if (w->n != 2 || !number_parse(w->word[1], 'd', &port) ||
	    port > UINT16_MAX)
		return 1;
	if (inet_pton(AF_INET, w->word[0], &v4) == 1)
		memcpy(a->word, &v4, sizeof v4);
	else if (inet_pton(AF_INET6, w->word[0], a->word) != 1)
		return 1;
	a->port = (uint32_t)port;
	snprintf(a->text, sizeof a->text, strchr(w->word[0], ':') == NULL ?
	    "%s:%u" : "[%s]:%u", w->word[0], a->port);
	return 0;
}

int
makekey_local(struct makeopen *f, struct words *w, const uint64_t *v)
{
	(void)v;
	return address_read(&f->inet->local, w);
}

int
makekey_remote(struct makeopen *f, struct words *w, const uint64_t *v)
{
	(void)v;
	return address_read(&f->inet->remote, w);
}

/*
 * A socket option that is not as in a new socket: NAME NUMBER.
 */
int
makekey_option(struct makeopen *f, struct words *w, const uint64_t *v)
{
	struct makeinet *n = f->inet;
	struct makeoption *o;
	uint64_t value;

	(void)v;
	if (words_split(w, w->rest) == -1)
		return -1;
	if (w->n != 2 || !number_parse(w->word[1], 'i', &value))
		return 1;
	if (VEC_ROOM(n->option, n->noption) == -1)
		return -1;
	o = &n->option[n->noption];
	o->value = (uint32_t)value;
	if ((o->name = strdup(w->word[0])) == NULL)
		return errstr_set("out of memory");
	n->noption++;
	return 0;
}

/*
 * An instruction of a filter.
 */
int
makekey_filter(struct makeopen *f, struct words *w, const uint64_t *v)
{
	(void)w;
	if (VEC_ROOM(f->inet->filter, f->inet->nfilter) == -1)
		return -1;
	f->inet->filter[f->inet->nfilter++] = v[0];
	return 0;
}

int
makekey_icmp(struct makeopen *f, struct words *w, const uint64_t *v)
{
	uint64_t word[MAKEICMP];
	size_t i;

	(void)v;
	if (words_split(w, w->rest) == -1)
		return -1;
	if ((w->n != 1 && w->n != MAKEICMP) || !words_form(w, 0, w->n == 1 ?
	    "x" : "xxxxxxxx", word))
		return 1;
	for (i = 0; i < w->n; i++)
		f->inet->icmp[i] = (uint32_t)word[i];
	f->inet->nicmp = w->n;
	return 0;
}

/*
 * A multicast group: ADDRESS INTERFACE.
 */
int
makekey_group(struct makeopen *f, struct words *w, const uint64_t *v)
{
	struct makeinet *n = f->inet;

	(void)v;
	if (words_split(w, w->rest) == -1)
		return -1;
	if (w->n != 2)
		return 1;
	if (VEC_ROOM(n->group, n->ngroup) == -1)
		return -1;
	if (asprintf(&n->group[n->ngroup], "%s of %s", w->word[0],
	    w->word[1]) == -1)
		return errstr_set("out of memory");
	n->ngroup++;
	return 0;
}

/*
 * Free what these functions have put into f.
 */
void
makekey_free(struct makeopen *f)
{
	struct makeinet *n = f->inet;
	size_t i;

	for (i = 0; i < f->nlistens; i++)
		free(f->listens[i].address);
	for (i = 0; i < f->nwatch; i++) {
		free(f->watch[i].handle);
		free(f->watch[i].path);
	}
	free(f->listens);
	free(f->watch);
	free(f->target);
	free(f->caller);
	free(f->passed);
	if (n == NULL)
		return;
	for (i = 0; i < n->noption; i++)
		free(n->option[i].name);
	for (i = 0; i < n->ngroup; i++)
		free(n->group[i]);
	free(n->option);
	free(n->group);
	free(n->filter);
	free(n);
}
