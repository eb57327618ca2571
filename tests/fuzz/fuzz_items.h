/*
 * Changes of the items of snap(6) streams: the mutator of targets whose input
 * is one stream or two.
 */
#ifndef FUZZ_ITEMS_H
#define FUZZ_ITEMS_H

#include "fuzz_stream.h"

enum { LONGEST = 256 * KB };	/* longest new segment */

static const char *const recfile_word[] = { "stat", "status", "comm", "maps",
    "smaps", "auxv", "exe", "cwd", "root", "limits", "thread", "carried",
    "missing", "origin", "part", "files", "fd/3", "fdinfo/3", "file/1",
    "cmdline", "regset/prstatus", "regset/fpregs", "regset/xstate",
    "siginfo", "sigmask", "size", "shares", "regset/x86_64_tls", "pages",
    "cgroup", "environ", "observed", "ns/pid" };

static const char *const record_word[] = { "segment", "fd", "fpregs", "kregs",
    "noteid", "ns", "proc", "regs", "status", "other", "ctl", "map", "..",
    "a/b", "core" };

#define WORD(list)	list[mutate_pick(sizeof list / sizeof *list)]

/*
 * Change bytes of an item: few of a text, more of others.
 */
static void
item_bytes(struct items *l, const uint8_t **p, size_t *n)
{
	uint8_t *room;
	size_t max, i, text;

	max = *n + 512;
	if ((room = items_room(l, max)) == NULL)
		return;
	if (*n > 0)
		memcpy(room, *p, *n);
	for (text = i = 0; i < *n; i++)
		text += isprint(room[i]) || isspace(room[i]);
	*p = room;
	for (i = mutate_pick(3) + 1; i > 0; i--)
		*n = text * 8 >= *n * 7 ? mutate_text(room, *n, max) :
		    mutate_binary(room, *n, max);
}

/*
 * Return a number of some item, or one near it.
 */
static uint64_t
items_number(const struct items *l)
{
	const struct item *it = &l->v[mutate_pick(l->n)];

	switch (mutate_pick(4)) {
	case 0:
		return mutate_number();
	case 1:
		return it->base + it->len;
	case 2:
		return it->base + (mutate_pick(65) - 32) * KB;
	default:
		return it->base;
	}
}

/*
 * Append pages for len bytes to b: first those of the segment it, then new
 * ones.
 */
static void
pages_make(const struct items *l, const struct item *it, uint64_t len,
    struct buf *b)
{
	uint8_t page[KB];
	const struct item *to;
	size_t at = 0, from, n;
	uint64_t k;

	for (k = 0; k < len; k += KB) {
		n = len - k < KB ? (size_t)(len - k) : KB;
		from = at;
		if (mutate_pick(16) != 0 && at < it->n &&
		    stream_page(it->data, it->n, &at, n)) {
			buf_add(b, it->data + from, at - from);
			continue;
		}
		to = &l->v[mutate_pick(l->n)];
		switch (mutate_pick(4)) {
		case 0:
			memset(page, (int)mutate_pick(256), sizeof page);
			buf_puts(b, "r");
			buf_add(b, page, n);
			break;
		case 1:
			buf_printf(b, "%c%11ju %11ju ", mutate_pick(8) == 0 ?
			    't' : 'm', (uintmax_t)to->pid, (uintmax_t)(to->base
			    + mutate_pick(1 + (size_t)(to->len / KB % 64)) *
			    KB));
			break;
		default:
			buf_puts(b, "z");
		}
	}
}

/*
 * Change a segment: its address, its length, or its pages.
 */
static void
item_segment(struct items *l, struct item *it)
{
	struct buf b = { 0 };
	uint64_t len = it->len;
	uint8_t *room;

	switch (mutate_pick(3)) {
	case 0:
		it->base = items_number(l);
		return;
	case 1:
		len = mutate_pick(2) == 0 ? len + mutate_pick(4 * KB) :
		    mutate_number() % LONGEST;
		break;
	}
	pages_make(l, it, len, &b);
	if (b.len > 0 && !b.failed && (room = items_room(l, b.len)) != NULL) {
		memcpy(room, b.data, b.len);
		it->data = room;
		it->n = b.len;
		it->len = len;
	}
	buf_free(&b);
}

static void
item_name(struct items *l, struct item *it)
{
	const char *s;

	if (mutate_pick(8) == 0) {
		item_bytes(l, &it->name, &it->namelen);
		return;
	}
	if (it->kind == ITEM_IMAGE)
		s = it->namelen == 3 ? "text" : "mem";
	else if (it->kind == ITEM_FILE)
		s = mutate_pick(8) == 0 ? WORD(mutate_word) :
		    WORD(recfile_word);
	else
		s = WORD(record_word);
	it->name = (const uint8_t *)s;
	it->namelen = strlen(s);
}

static void
item_change(struct items *l, struct item *it)
{
	switch (it->kind) {
	case ITEM_SEG:
		item_segment(l, it);
		return;
	case ITEM_IMAGE:
		break;
	default:
		if (mutate_pick(6) != 0) {
			item_bytes(l, &it->data, &it->n);
			return;
		}
	}
	if (it->kind == ITEM_FILE || mutate_pick(3) == 0)
		item_name(l, it);
	else
		it->pid = mutate_pick(3) == 0 ? mutate_number() :
		    mutate_pick(3) == 0 ? it->pid + mutate_pick(5) - 2 :
		    l->v[mutate_pick(l->n)].pid;
}

/*
 * Drop, duplicate or move an item. Its parts, which follow it, stay and become
 * parts of another item.
 */
static void
items_move(struct items *l, size_t i)
{
	struct item it = l->v[i];
	size_t to, op;

	op = l->n == ITEMS ? 0 : mutate_pick(3);
	if (op != 1) {
		memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof it);
		l->n--;
	}
	if (op == 0)
		return;
	to = mutate_pick(l->n + 1);
	memmove(&l->v[to + 1], &l->v[to], (l->n - to) * sizeof it);
	l->v[to] = it;
	l->n++;
}

/*
 * Change a stream of n bytes that has room for max. Return its new length; 0 if
 * it is not a stream or too long.
 */
static size_t
stream_mutate(uint8_t *p, size_t n, size_t max)
{
	static struct items l;
	size_t i, k;

	items_get(&l, p, n);
	if (l.n == 0)
		return 0;
	if (mutate_pick(64) == 0)
		item_bytes(&l, &l.head, &l.headlen);
	for (k = mutate_pick(3) + 1; k > 0 && l.n > 0; k--) {
		i = mutate_pick(l.n);
		if (mutate_pick(5) == 0)
			items_move(&l, i);
		else
			item_change(&l, &l.v[i]);
	}
	return items_put(&l, p, max);
}

/*
 * Change one of two streams, the second of which begins at cut.
 */
static size_t
streams_mutate(uint8_t *p, size_t n, size_t max, size_t cut)
{
	uint8_t *s;
	size_t at, len, r;

	at = cut < n && mutate_pick(2) ? cut : 0;
	len = at == 0 ? cut : n - cut;
	if (max <= n - len || (s = malloc(max)) == NULL)
		return 0;
	memcpy(s, p + at, len);
	r = mutate_pick(10) == 0 ? LLVMFuzzerMutate(s, len, max - (n - len)) :
	    stream_mutate(s, len, max - (n - len));
	n = r == 0 ? 0 : mutate_put(p, n, max, at, at + len, s, r);
	free(s);
	return n;
}

#ifndef FUZZ_OWN_MUTATOR
size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t r;

	mutate_seed(seed);
	r = streams_mutate(p, n, max, stream_cut(p, n));
	return r > 0 ? r : LLVMFuzzerMutate(p, n, max);
}
#endif

#endif
