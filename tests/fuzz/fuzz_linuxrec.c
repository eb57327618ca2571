/*
 * Any bytes as a Linux record: it is refused, or its files have valid,
 * different names and lie within it. After an update of "missing", only that
 * file differs. Facts of the process do not differ from themselves.
 */
#include "fuzz.h"
#include "model.h"
#include "record/record.h"

#ifdef LIBFUZZER
#define FUZZ_OWN_MUTATOR
#include "fuzz_items.h"

/*
 * Change a file of the record or its first line, and write the record with
 * right lengths. Return its new length, or 0 if it is not a record.
 */
static size_t
record_mutate(uint8_t *p, size_t n, size_t max)
{
	static struct items l;
	struct buf b = { 0 };
	struct item *rec;
	size_t i, k;

	l.n = l.used = 0;
	rec = items_add(&l, ITEM_DATA, 1);
	rec->data = p;
	rec->n = n;
	stream_linux(&l, rec);
	for (k = mutate_pick(3) + 1; k > 0 && rec->kind == ITEM_LINUX; k--) {
		i = mutate_pick(l.n);
		if (i == 0)
			item_bytes(&l, &rec->data, &rec->n);
		else if (mutate_pick(5) == 0)
			items_move(&l, i);
		else
			item_change(&l, &l.v[i]);
	}
	if (rec->kind == ITEM_LINUX) {
		buf_add(&b, rec->data, rec->n);
		buf_puts(&b, "\n");
		(void)items_parts(&l, 0, &b);
	}
	return mutate_finish(p, &b, max);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t r;

	mutate_seed(seed);
	r = record_mutate(p, n, max);
	return r > 0 ? r : LLVMFuzzerMutate(p, n, max);
}
#endif

static void
check_name(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		MUST(n > 0 && n <= 255);
		MUST(n != 1 || *s != '.');
		MUST(n != 2 || memcmp(s, "..", 2) != 0);
		if (s[n] == '\0')
			break;
	}
}

/*
 * Return true if a is b, or a directory above b.
 */
static int
leads_to(const char *a, const char *b)
{
	size_t n = strlen(a);

	return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '/');
}

static void
check_files(const struct file *rec, const struct linuxrec *r)
{
	char name[4096], last[4096] = "";
	struct recfile f, g;
	size_t i;

	for (i = 0; i < r->n; i++) {
		linuxrec_get(r, i, &f);
		MUST(f.namelen < sizeof name);
		memcpy(name, f.name, f.namelen);
		name[f.namelen] = '\0';
		check_name(name);
		MUST(i == 0 || !leads_to(last, name));
		MUST(f.data >= rec->data);
		MUST(f.data + f.len <= rec->data + rec->len);
		MUST(linuxrec_find(r, name, &g) && g.data == f.data);
		memcpy(last, name, sizeof last);
	}
}

/*
 * Check that all files of a are in b, except the lists of missing memory.
 */
static void
check_same(const struct linuxrec *a, const struct linuxrec *b)
{
	struct recfile f, g;
	char name[4096];
	size_t i;

	for (i = 0; i < a->n; i++) {
		linuxrec_get(a, i, &f);
		snprintf(name, sizeof name, "%.*s", (int)f.namelen, f.name);
		if (strcmp(name, "missing") == 0 ||
		    strcmp(name, "missing-text") == 0)
			continue;
		MUST(linuxrec_find(b, name, &g) && f.len == g.len);
		MUST(f.len == 0 || memcmp(f.data, g.data, f.len) == 0);
	}
}

static void
check_facts(struct snap *s, struct proc *p)
{
	struct factlist a = { 0 }, b = { 0 };
	struct changes l = { 0 };
	struct identity who;
	size_t i;

	MUST(proc_identity(&who, p) == 0 || *snap_errstr() != '\0');
	if (proc_facts(&a, s, p) == 0 && proc_facts(&b, s, p) == 0) {
		MUST(factlist_diff(&l, &a, &b) == 0);
		MUST(l.n == 0);
	}
	for (i = 0; i < a.n; i++) {
		MUST(a.v[i].subject < SUBJECTS);
		MUST((a.told & 1U << a.v[i].subject) != 0);
		MUST(strlen(a.v[i].key) + strlen(a.v[i].value) < SIZE_MAX);
	}
	free(l.v);
	factlist_free(&a);
	factlist_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct file rec = { NULL, NULL, n };
	struct linuxrec v, w;
	struct segment *seg;
	struct snap *s;
	struct proc *p;
	int rc;

	MUST((rec.data = malloc(n + 1)) != NULL);
	memcpy(rec.data, data, n);
	rc = linuxrec_open(&v, &rec);
	MUST(rc == 0 || *snap_errstr() != '\0');
	MUST((s = snap_new()) != NULL && (p = snap_add(s, 1)) != NULL);
	MUST((p->mem = image_new(p, IMAGE_MEM)) != NULL);
	MUST((seg = segment_new(0x1000, 64 * KB)) != NULL);
	MUST(segment_append(seg, 64, NULL, 0) == 0);
	MUST(image_insert(p->mem, seg) == 0);
	if (rc == 0)
		check_files(&rec, &v);
	MUST((data = malloc(n + 1)) != NULL);
	memcpy((uint8_t *)(uintptr_t)data, rec.data, n);
	MUST(proc_setfile(p, "proc", (uint8_t *)(uintptr_t)data, n) == 0);
	if (linuxrec_apply(p) == 0) {
		MUST(rc == 0);
		rc = linuxrec_update(p);
		MUST(rc == 0 || rc == 1);
		MUST(linuxrec_open(&w, proc_file(p, "proc")) == 0);
		check_same(&v, &w);
		check_same(&w, &v);
		linuxrec_close(&w);
		check_facts(s, p);
	}
	linuxrec_close(&v);
	snap_free(s);
	free(rec.data);
	return 0;
}
