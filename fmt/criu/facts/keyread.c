/*
 * Parse keys of file/ID whose lines do not fit a form of keys.c. Each function
 * stores the value in the current line of w at to, the member of struct
 * makeopen or struct makeinet for it. It returns 0, 1 if the line is malformed,
 * or -1 with errstr set.
 */
#include "facts.h"

#include <arpa/inet.h>

/*
 * Parse a path, where each byte is written as two hexadecimal digits. to points
 * to a string.
 */
int
makekey_path(void *to, struct words *w)
{
	uint8_t *bytes;
	size_t len;

	if (words_bytes(w, w->rest, &bytes, &len) == -1)
		return -1;
	if (memchr(bytes, '\0', len) != NULL)
		return 1;
	/* a zero follows the bytes */
	*(char **)to = (char *)bytes;
	return 0;
}

/*
 * Parse an address and a port. to points to a struct makeaddress.
 */
int
makekey_address(void *to, struct words *w)
{
	struct makeaddress *a = to;
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

/*
 * Parse the words of a filter. to points to a struct makeicmp.
 */
int
makekey_icmp(void *to, struct words *w)
{
	struct makeicmp *icmp = to;
	uint64_t word[MAKEICMP];
	size_t i;

	if (words_split(w, w->rest) == -1)
		return -1;
	if ((w->n != 1 && w->n != MAKEICMP) || !words_form(w, 0, w->n == 1 ?
	    "x" : "xxxxxxxx", word))
		return 1;
	for (i = 0; i < w->n; i++)
		icmp->v[i] = (uint32_t)word[i];
	icmp->n = w->n;
	return 0;
}
