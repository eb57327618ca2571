/*
 * Any bytes as a Linux record: it is refused, or its files have good names,
 * each once, and lie in it; and with "missing" brought up to date it is the
 * same but for that.
 */
#include "fuzz.h"

static void
check_name(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		MUST(n > 0);
		MUST(strncmp(s, ".", n) != 0 || n != 1);
		MUST(strncmp(s, "..", n) != 0 || n != 2);
		if (s[n] == '\0')
			break;
	}
}

static void
check_files(const struct file *rec, const struct file *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		check_name(v[i].name);
		MUST(v[i].data >= rec->data);
		MUST(v[i].data + v[i].len <= rec->data + rec->len);
		MUST(linuxrec_find(v, n, v[i].name) == &v[i]);
	}
}

/*
 * All files of one record but missing are in the other one.
 */
static void
check_same(const struct file *a, size_t na, const struct file *b, size_t nb)
{
	const struct file *f;
	size_t i;

	for (i = 0; i < na; i++) {
		if (strcmp(a[i].name, "missing") == 0)
			continue;
		f = linuxrec_find(b, nb, a[i].name);
		MUST(f != NULL && f->len == a[i].len);
		MUST(f->len == 0 || memcmp(f->data, a[i].data, f->len) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct file rec = { NULL, NULL, n }, *v, *w;
	struct segment *seg;
	struct snap *s;
	struct proc *p;
	size_t nv, nw;
	int rc;

	MUST((rec.data = malloc(n + 1)) != NULL);
	memcpy(rec.data, data, n);
	rc = linuxrec_parse(&rec, &v, &nv);
	MUST(rc == 0 || *snap_errstr() != '\0');
	MUST((s = snap_new()) != NULL && (p = snap_add(s, 1)) != NULL);
	MUST((p->mem = image_new(p, IMAGE_MEM)) != NULL);
	MUST((seg = segment_new(0x1000, 64 * KB)) != NULL);
	MUST(segment_append(seg, 64, NULL, 0) == 0);
	MUST(image_insert(p->mem, seg) == 0);
	if (rc == 0)
		check_files(&rec, v, nv);
	MUST((data = malloc(n + 1)) != NULL);
	memcpy((uint8_t *)(uintptr_t)data, rec.data, n);
	MUST(proc_setfile(p, "proc", (uint8_t *)(uintptr_t)data, n) == 0);
	if (linuxrec_apply(p) == 0) {
		MUST(rc == 0);
		rc = linuxrec_update(p);
		MUST(rc == 0 || rc == 1);
		MUST(linuxrec_parse(proc_file(p, "proc"), &w, &nw) == 0);
		check_same(v, nv, w, nw);
		check_same(w, nw, v, nv);
		linuxrec_free(w, nw);
		rc = 0;
	}
	if (rc == 0)
		linuxrec_free(v, nv);
	snap_free(s);
	free(rec.data);
	return 0;
}
