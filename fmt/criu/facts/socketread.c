/*
 * What a Linux record tells of sockets that are none of the internet: the lines
 * of file/ID that snap(6) describes.
 */
#include "facts.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * Add a line "caller INODE" to the connections that wait at socket f.
 */
static int
caller_read(struct makeopen *f, struct words *w)
{
	if (VEC_ROOM(f->caller, f->ncaller) == -1)
		return -1;
	return words_split(w, w->rest) == 0 && words_form(w, 0, "d",
	    &f->caller[f->ncaller]) ? (f->ncaller++, 0) :
	    words_bad(w, "caller inode");
}

/*
 * Add a line "passed PACKET ID" to the descriptors that wait in socket f.
 */
static int
passed_read(struct makeopen *f, struct words *w)
{
	uint64_t n[2];

	if (VEC_ROOM(f->passed, f->npassed) == -1 ||
	    words_split(w, w->rest) == -1)
		return -1;
	if (!words_form(w, 0, "dd", n) || (f->npassed > 0 &&
	    n[0] < f->passed[f->npassed - 1].packet))
		return words_bad(w, "passed packet id, packets ascending");
	f->passed[f->npassed].packet = n[0];
	f->passed[f->npassed++].id = n[1];
	return 0;
}

/*
 * Take a line "sender PACKET UID GID PID" of socket f.
 */
static int
sender_read(struct makeopen *f, struct words *w)
{
	enum { NOBODY = 65534 };	/* where the kernel does not know who */
	uint64_t n[4];

	if (words_split(w, w->rest) == -1)
		return -1;
	if (!words_form(w, 0, "dddi", n))
		return words_bad(w, "sender packet uid gid pid");
	f->sender |= n[1] != NOBODY || n[2] != NOBODY || n[3] != 0;
	return 0;
}

/*
 * Take a line "member GROUP" of netlink socket f.
 */
static int
member_read(struct makeopen *f, struct words *w)
{
	enum { FEW = 32 };
	uint64_t group;

	if (!number_parse(w->rest, 'd', &group) || group == 0)
		return words_bad(w, "member group");
	f->members |= UINT64_C(1) << (group > FEW ? FEW : group - 1);
	return 0;
}

/*
 * Add a line "listens INTERFACE COUNT TYPE ADDRESS" to packet socket f; ADDRESS
 * is "-" if it needs none.
 */
static int
listens_read(struct makeopen *f, struct words *w)
{
	enum { BEFORE = 3 };	/* words before the address */
	struct makelistens *l;
	uint64_t n[BEFORE];

	if (VEC_ROOM(f->listens, f->nlistens) == -1 ||
	    words_split(w, w->rest) == -1)
		return -1;
	w->n--;
	if (!words_form(w, 0, "ddd", n))
		return words_bad(w, "listens interface count type address|-");
	l = &f->listens[f->nlistens++];
	memset(l, 0, sizeof *l);
	l->interface = n[0];
	l->count = n[1];
	l->type = n[2];
	return strcmp(w->word[BEFORE], "-") == 0 ? 0 :
	    words_bytes(w, w->word[BEFORE], &l->address, &l->len);
}

/*
 * Take the line of file/ID at hand of w, if it is one that only such sockets
 * have, into f.  Return 1, 0 if it is none, or -1 with errstr.
 */
int
makesocket_read(struct makeopen *f, struct words *w)
{
	static const struct {
		const char *key;
		int (*read)(struct makeopen *, struct words *);
	} key[] = {
		{ "caller", caller_read }, { "passed", passed_read },
		{ "sender", sender_read }, { "member", member_read },
		{ "listens", listens_read }
	};
	size_t i;

	for (i = 0; i < sizeof key / sizeof *key; i++)
		if (strcmp(w->word[0], key[i].key) == 0)
			return key[i].read(f, w) == -1 ? -1 : 1;
	return 0;
}

/*
 * Free what makesocket_read has put into f.
 */
void
makesocket_free(struct makeopen *f)
{
	size_t i;

	for (i = 0; i < f->nlistens; i++)
		free(f->listens[i].address);
	free(f->listens);
	free(f->caller);
	free(f->passed);
}
