/*
 * What the record tells of a socket of the internet, beside what all open files
 * have: the lines of file/ID that snap(6) describes.
 */
#include "facts.h"
#include "vec.h"

#include <arpa/inet.h>

#include <stdlib.h>
#include <string.h>

/*
 * Take a line "local ADDRESS PORT", or the same of remote.
 */
static int
address_read(struct makeaddress *a, struct words *w)
{
	static const char want[] = "address and port";
	struct in_addr v4;
	uint64_t port;

	memset(a, 0, sizeof *a);
	if (words_split(w, w->rest) == -1)
		return -1;
	if (w->n != 2 || !number_parse(w->word[1], 'd', &port) ||
	    port > UINT16_MAX)
		return words_bad(w, want);
	if (inet_pton(AF_INET, w->word[0], &v4) == 1)
		memcpy(a->word, &v4, sizeof v4);
	else if (inet_pton(AF_INET6, w->word[0], a->word) != 1)
		return words_bad(w, want);
	a->port = (uint32_t)port;
	snprintf(a->text, sizeof a->text, strchr(w->word[0], ':') == NULL ?
	    "%s:%u" : "[%s]:%u", w->word[0], a->port);
	return 0;
}

static int
string_take(char **s, const char *from)
{
	free(*s);
	return (*s = strdup(from)) == NULL ? errstr_set("out of memory") : 0;
}

static int
option_read(struct makeinet *n, struct words *w)
{
	struct makeoption *o;
	uint64_t v;

	if (words_split(w, w->rest) == -1)
		return -1;
	if (w->n != 2 || !number_parse(w->word[1], 'i', &v))
		return words_bad(w, "option, name and number");
	if (VEC_ROOM(n->option, n->noption) == -1)
		return -1;
	o = &n->option[n->noption];
	o->value = (uint32_t)v;
	if ((o->name = strdup(w->word[0])) == NULL)
		return errstr_set("out of memory");
	n->noption++;
	return 0;
}

static int
filter_read(struct makeinet *n, struct words *w)
{
	uint64_t v;

	if (!number_parse(w->rest, 'x', &v))
		return words_bad(w, "filter, 16 digits (x)");
	if (VEC_ROOM(n->filter, n->nfilter) == -1)
		return -1;
	n->filter[n->nfilter++] = v;
	return 0;
}

static int
icmp_read(struct makeinet *n, struct words *w)
{
	uint64_t v[MAKEICMP];
	size_t i;

	if (words_split(w, w->rest) == -1)
		return -1;
	if ((w->n != 1 && w->n != MAKEICMP) || !words_form(w, 0, w->n == 1 ?
	    "x" : "xxxxxxxx", v))
		return words_bad(w, "icmp, one or eight numbers (x)");
	for (i = 0; i < w->n; i++)
		n->icmp[i] = (uint32_t)v[i];
	n->nicmp = w->n;
	return 0;
}

static int
group_read(struct makeinet *n, struct words *w)
{
	char **v;

	if (words_split(w, w->rest) == -1)
		return -1;
	if (w->n != 2)
		return words_bad(w, "group, address and interface");
	if (VEC_ROOM(n->group, n->ngroup) == -1)
		return -1;
	v = &n->group[n->ngroup];
	if (asprintf(v, "%s of %s", w->word[0], w->word[1]) == -1)
		return errstr_set("out of memory");
	n->ngroup++;
	return 0;
}

/*
 * Take the line of file/ID at hand of w, if it is one that only a socket of the
 * internet has, into f.  Return 1, 0 if it is none, or -1 with errstr.
 */
int
makeinet_read(struct makeopen *f, struct words *w)
{
	static const char *const key[] = { "local", "remote", "option",
	    "filter", "icmp", "group", "device", "congestion", "ulp" };
	struct makeinet *n;
	size_t k;
	int rc;

	for (k = 0; k < sizeof key / sizeof *key; k++)
		if (strcmp(w->word[0], key[k]) == 0)
			break;
	if (k == sizeof key / sizeof *key)
		return 0;
	if (f->inet == NULL && (f->inet = calloc(1, sizeof *n)) == NULL)
		return errstr_set("out of memory");
	n = f->inet;
	switch (k) {
	case 0:
		rc = address_read(&n->local, w);
		break;
	case 1:
		rc = address_read(&n->remote, w);
		break;
	case 2:
		rc = option_read(n, w);
		break;
	case 3:
		rc = filter_read(n, w);
		break;
	case 4:
		rc = icmp_read(n, w);
		break;
	case 5:
		rc = group_read(n, w);
		break;
	default:
		rc = string_take(k == 6 ? &n->device : k == 7 ?
		    &n->congestion : &n->ulp, w->rest);
	}
	return rc == -1 ? -1 : 1;
}

/*
 * Free n, or NULL.
 */
void
makeinet_free(struct makeinet *n)
{
	size_t i;

	if (n == NULL)
		return;
	for (i = 0; i < n->noption; i++)
		free(n->option[i].name);
	free(n->option);
	for (i = 0; i < n->ngroup; i++)
		free(n->group[i]);
	free(n->group);
	free(n->filter);
	free(n->device);
	free(n->congestion);
	free(n->ulp);
	free(n);
}
