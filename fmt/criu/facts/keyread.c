/*
 * Parse keys of file/ID whose lines do not fit a form of keys.c. Each function
 * takes the current line of w into open file f. It returns 0, 1 if the line is
 * malformed, or -1 with errstr set.
 */
#include "facts.h"

#include <arpa/inet.h>

/*
 * Set f->path to the path in the current line of w, where each byte is written
 * as two hexadecimal digits. Return 0 on success, 1 if the line is malformed,
 * or -1 with errstr set.
 */
int
makekey_path(struct makeopen *f, struct words *w)
{
	uint8_t *bytes;
	size_t len;

	if (words_bytes(w, w->rest, &bytes, &len) == -1)
		return -1;
	if (memchr(bytes, '\0', len) != NULL)
		return 1;
	/* a zero follows the bytes */
	f->path = (char *)bytes;
	return 0;
}

/*
 * Set *a to the address and the port in the current line of w. Return 0 on
 * success, 1 if the line is malformed, or -1 with errstr set.
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
makekey_local(struct makeopen *f, struct words *w)
{
	return address_read(&f->inet->local, w);
}

int
makekey_remote(struct makeopen *f, struct words *w)
{
	return address_read(&f->inet->remote, w);
}

int
makekey_icmp(struct makeopen *f, struct words *w)
{
	uint64_t word[MAKEICMP];
	size_t i;

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
