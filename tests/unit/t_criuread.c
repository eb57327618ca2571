/*
 * CRIU images that are read again: as a view, in archives, with parents,
 * compressed, and when memory runs out.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <sys/sysmacros.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DIRS = 256 };	/* longest chain of parents */

/*
 * Return a snapshot of process 7. Each character of pages is a kilobyte of its
 * memory from DATA on, 0 stands for zeros. If body is not NULL, the process has
 * a deleted file of size bytes open, whose kilobytes are those in body.
 */
static struct snap *
make(const char *pages, const char *body, const char *size)
{
	static char file[] = "size", path[] = "/t/a";
	const size_t n = strlen(pages);
	struct vma v = { .dev = makedev(8, 1), .ino = 77, .name = path };
	struct file f = { .name = file };
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	char text[64];
	size_t i;

	process_record(7);
	snprintf(text, sizeof text, "403000 %zx\n", 0x403000 + n * KB);
	set("pages", text);
	set("maps", "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "403000-423000 rw-p 00000000 00:00 0 \n");
	set("smaps", "");
	set("files", body == NULL ? "" : "3 1\n");
	set("file/1", "type reg\nmode 100640\npath /t/a\nflags 0\npos 0\n"
	    "dev 08:01\nino 77\ndeleted 1\n");
	s = begin();
	p = finish(s, 7);
	image_free(p->mem);
	p->mem = NULL;
	m = memsource_new(s, n, KB);
	for (i = 0; i < n; i++)
		memset(m->data + i * KB, pages[i] == '0' ? 0 : pages[i], KB);
	segment_add(p, IMAGE_MEM, DATA, n * KB, &m->src, 0);
	if (body == NULL)
		return s;
	assert_non_null(p = embedded_new(s, &v));
	m = memsource_new(s, strlen(body), KB);
	for (i = 0; i < strlen(body); i++)
		memset(m->data + i * KB, body[i] == '0' ? 0 : body[i], KB);
	segment_add(p, IMAGE_TEXT, PAGE, strlen(body) * KB, &m->src, 0);
	f.data = (uint8_t *)strdup(size);
	f.len = strlen(size);
	assert_int_equal(linuxrec_pack(p, machine, &f, 1), 0);
	free(f.data);
	return s;
}

/*
 * Write snapshot s to memory and return what is read from there. Free s.
 */
static struct snap *
again(struct snap *s)
{
	struct buf b = { 0 };
	struct snap *t;

	snap_bytes(s, &b);
	snap_free(s);
	assert_non_null(t = stream_read(b.data, b.len, false));
	buf_free(&b);
	return t;
}

/*
 * A view has the same files as the directory, with the same bytes, read in any
 * pieces.
 */
static void
test_view(void **state)
{
	static const char body[] = "abcd0000x0";
	static uint8_t got[65536];
	char pages[HOLE_KB + 9];
	struct criuopts o = { 0 };
	struct criuview *v;
	struct snap *s;
	struct dirent *e;
	size_t i, at, n = 0;
	ssize_t len;
	DIR *d;

	(void)state;
	snprintf(pages, sizeof pages, "abcd%0*dijkl", HOLE_KB, 0);
	assert_int_equal(load(make(pages, body, "9500\n"), &o), 0);
	s = again(make(pages, body, "9500\n"));
	assert_non_null(v = criuview_new(s, &o));
	for (i = 0; i < v->n; i++) {
		image_get(v->v[i]->name);
		if (image.n == sizeof image.b)	/* pages, see below */
			continue;
		assert_int_equal(v->v[i]->size, image.n);
		for (at = 0; at < image.n; at += (size_t)len) {
			len = criuview_read(v, i, got + at, 1000, at);
			assert_true(len > 0 && len <= 1000);
		}
		assert_memory_equal(got, image.b, image.n);
		assert_int_equal(criuview_read(v, i, got, 1, at), 0);
		assert_int_equal(criuview_read(v, i, got, 0, 0), 0);
		memset(got, 1, sizeof got);
		assert_int_equal(criuview_read(v, i, got, sizeof got, 0),
		    image.n);
		assert_memory_equal(got, image.b, image.n);
	}
	assert_non_null(d = opendir(dir));
	while ((e = readdir(d)) != NULL)
		n += *e->d_name != '.' && criuview_find(v, e->d_name, &i);
	closedir(d);
	assert_int_equal(n, v->n);

	/* zeros are holes */
	assert_true(criuview_find(v, "pages-1.img", &i));
	for (at = 0; pages[at] != '\0'; at++) {
		assert_int_equal(criuview_read(v, i, got, KB + 1, at * KB),
		    pages[at + 1] == '\0' ? KB : KB + 1);
		assert_int_equal(got[KB - 1], pages[at] == '0' ? 0 : pages[at]);
	}
	assert_int_equal(criuview_seek(v, i, 0, true), 0);
	assert_int_equal(criuview_seek(v, i, 0, false), 4 * KB);
	assert_int_equal(criuview_seek(v, i, 5 * KB, true), (4 + HOLE_KB) *
	    KB);
	assert_int_equal(criuview_seek(v, i, 5 * KB, false), 5 * KB);
	assert_int_equal(criuview_seek(v, i, (5 + HOLE_KB) * KB, false), (8 +
	    HOLE_KB) * KB);
	assert_int_equal(criuview_seek(v, i, (8 + HOLE_KB) * KB, true), -1);
	assert_true(criuview_find(v, "mm-7.img", &i));
	assert_int_equal(criuview_seek(v, i, 3, true), 3);
	assert_int_equal(criuview_seek(v, i, 3, false), v->v[i]->size);
	criuview_free(v);
	snap_free(s);
}

/*
 * Pages that an image lists and that the snapshot lacks, partly or completely,
 * cannot be read.
 */
static void
test_lacking(void **state)
{
	const struct pages listed = { .addr = DATA, .len = 2 * PAGE,
	    .flags = PE_PRESENT };
	struct criuopts o = { 0 };
	struct criuview *v;
	struct buf map = { 0 };
	uint8_t b[KB];
	struct snap *s;
	size_t i;
	int k;

	(void)state;
	pagemap_begin(&map, 1);
	pagemap_put(&map, &listed, PAGE, NULL);
	assert_int_equal(buf_check(&map), 0);
	for (k = 0; k < 2; k++) {
		process_record(7);
		set("criu/inventory.img", "x");
		set_bytes("criu/pagemap-7.img", map.data, map.len);
		s = begin();
		finish(s, 7);
		image_free(s->proc[0]->mem);
		s->proc[0]->mem = NULL;
		if (k == 0)
			segment_add(s->proc[0], IMAGE_MEM, DATA, 4 * KB,
			    &memsource_new(s, 4, KB)->src, 0);
		assert_non_null(v = criuview_new(s, &o));
		assert_true(criuview_find(v, "pages-1.img", &i));
		assert_int_equal(v->v[i]->size, 8 * KB);
		assert_int_equal(criuview_read(v, i, b, 1, 4 * KB), -1);
		if (k == 1)
			assert_string_equal(snap_errstr(), "pages-1.img: its "
			    "pages are not in the snapshot");
		assert_int_equal(criuview_read(v, i, b, 0, 4 * KB), 0);
		assert_int_equal(criuview_seek(v, i, 4 * KB, true), 4 * KB);
		assert_int_equal(criuview_seek(v, i, 4 * KB, false), 8 * KB);
		criuview_free(v);
		snap_free(s);
	}
	buf_free(&map);
}

/*
 * Deleted files are written without holes of whole blocks.
 */
static void
test_holes(void **state)
{
	static const struct {
		const char *body, *size, *chunks;
	} cases[] = {
		{ "abcdefgh", "8192\n", "0+8192 " },
		{ "0000efgh", "8192\n", "4096+4096 " },
		{ "abcd0000", "8192\n", "0+4096 " },
		{ "abcd0000", "5000\n", "0+4096 " },
		{ "abcdefgh", "5000\n", "0+5000 " },
		{ "abc00fgh", "8192\n", "0+8192 " },
		{ "ab000000ij", "10240\n", "0+4096 8192+2048 " },
		{ "ab0000000j", "10240\n", "0+4096 8192+2048 " },
		{ "abcd00", "6144\n", "0+4096 " },
		{ "ab0000", "6144\n", "0+4096 " },
		{ "abcd00gh", "8192\n", "0+8192 " },
		{ "00cd", "4096\n", "0+4096 " },
		{ "0000", "4096\n", "" }, { "0", "1\n", "" },
		{ "a", "1\n", "0+1 " }
	};
	struct criuopts o = { 0 };
	const uint8_t *end;
	char text[256];
	struct part m;
	size_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(load(make("abcd", cases[i].body,
		    cases[i].size), &o), 0);
		m = frame("ghost-file-1.img", 0);
		*text = '\0';
		for (n = 0; m.p + m.n < image.b + image.n;) {
			end = m.p + m.n;
			m.p = end + 4;
			m.n = *end;
			k = number(m, "2") / KB;
			n += (size_t)snprintf(text + n, sizeof text - n,
			    "%ju+%ju ", (uintmax_t)number(m, "2"),
			    (uintmax_t)number(m, "1"));
			assert_int_equal(m.p[m.n], cases[i].body[k] == '0' ?
			    0 : cases[i].body[k]);
			m.p += number(m, "1");
		}
		assert_string_equal(text, cases[i].chunks);
	}
}

/*
 * Write images of process 7 below top, upon a parent.
 */
static int
write_upon(const char *name, const char *pages, const char *parent,
    bool compress)
{
	char path[PATH_MAX], below[PATH_MAX];
	struct criuopts o = { .parent = parent == NULL ? NULL : below,
	    .compress = compress, .overwrite = true };
	struct criustat st = { 0 };
	struct buf b = { 0 };
	struct stream in;
	struct snap *s;
	int rc;

	snprintf(path, sizeof path, "%s/%s", top, name);
	snprintf(below, sizeof below, "%s/%s", top, parent);
	s = make(pages, NULL, NULL);
	snap_bytes(s, &b);
	snap_free(s);
	stream_file(&in, b.data, b.len);
	if (on_write != NULL)
		on_write(true);
	rc = images_write(in.path, path, &o, &st);
	if (on_write != NULL)
		on_write(false);
	stream_close(&in);
	buf_free(&b);
	return rc;
}

/*
 * The link to the parent is a relative path.
 */
static void
test_parents(void **state)
{
	static const struct {
		const char *parent, *dir, *link;
	} cases[] = {
		{ "one", "two", "../one" }, { "one", "onetwo", "../one" },
		{ "onetwo", "on", "../onetwo" },
		{ "one", "deep/two", "../../one" },
		{ "deep/two", "deep/three", "../two" },
		{ "deep/two", "four", "../deep/two" },
		{ "deep/two", "other/five", "../../deep/two" },
		{ "one", "one/sub", "../" }, { "a/old", "a", "old" }
	};
	char path[PATH_MAX], link[PATH_MAX];
	ssize_t n;
	size_t i;

	(void)state;
	assert_int_equal(shell("mkdir -p %s/deep %s/other %s/a", top, top, top),
	    0);
	assert_int_equal(write_upon("one", "abcdefgh", NULL, false), 0);
	assert_int_equal(write_upon("a/old", "abcdefgh", NULL, false), 0);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (write_upon(cases[i].dir, "abcdefgh", cases[i].parent,
		    false) == -1)
			fail_msg("%s: %s", cases[i].dir, snap_errstr());
		snprintf(path, sizeof path, "%s/%s/parent", top, cases[i].dir);
		n = readlink(path, link, sizeof link - 1);
		assert_true(n > 0);
		link[n] = '\0';
		assert_string_equal(link, cases[i].link);
	}
}

/*
 * Check that path has the memory of process 7, which make() describes.
 */
static int
check_memory(const char *path, const char *pages)
{
	uint8_t b[KB], want[KB];
	struct snap *s;
	size_t i;

	if (on_write != NULL)
		on_write(true);
	s = snap_load(path, NULL);
	if (on_write != NULL)
		on_write(false);
	if (s == NULL)
		return -1;
	assert_int_equal(s->nproc, 1);
	for (i = 0; pages[i] != '\0'; i++) {
		memset(want, pages[i] == '0' ? 0 : pages[i], KB);
		if (image_read(s->proc[0]->mem, DATA + i * KB, b, KB) == -1)
			fail_msg("%zu: %s", i, snap_errstr());
		assert_memory_equal(b, want, KB);
	}
	snap_free(s);
	return 0;
}

/*
 * A chain of parents may be as long as the limit, in a file system and in an
 * archive.
 */
static void
test_depth(void **state)
{
	char path[PATH_MAX];
	int i;

	(void)state;
	assert_int_equal(write_upon("s0", "abcdefgh", NULL, false), 0);
	assert_int_equal(write_upon("s", "abcdefgh", "s0", false), 0);
	assert_int_equal(shell("cd %s && mkdir st && mv s0 st/0 && mv s st/255 "
	    "&& for i in $(seq 1 254) 256; do cp -R st/255 st/$i; ln -sfn "
	    "../$((i - 1)) st/$i/parent; done; ln -sfn ../254 st/255/parent",
	    top), 0);
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/st/%d%s", top, MAX_DIRS - 1 +
		    i % 2, i < 2 ? "" : ".tar");
		if (i >= 2)
			assert_int_equal(shell("cd %s/st && "
			    "mv %d checkpoint && "
			    "tar -cf %s --exclude='*.tar' . && mv checkpoint "
			    "%d", top, MAX_DIRS - 1 + i % 2, path,
			    MAX_DIRS - 1 + i % 2), 0);
		assert_int_equal(check_memory(path, "abcdefgh"), -(i % 2));
		if (i == 3)
			assert_contains(snap_errstr(), "has too many parents");
	}
}

/*
 * Several process trees are checked and reported separately.
 */
static void
test_check(void **state)
{
	unsigned int need = CRIU_MADE;
	struct criuopts o = { .note = note_warning, .need = &need };
	struct readopts r = { 0 };
	struct snap *s;
	int pid;

	(void)state;
	criu_readopts(&r);
	assert_true(r.nosizes);
	s = begin();
	for (pid = 6; pid <= 8; pid++) {
		process_record(pid);
		set("status", "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3\t4\n"
		    "Gid:\t5\t6\t7\t8\nNSpid:\t7\nNSpgid:\t7\nNSsid:\t0\n");
		finish(s, (uint64_t)pid);
	}
	*warned = '\0';
	assert_int_equal(criu_check(s, &o), 0);
	assert_contains(warned, "3 process trees, each restored by itself: use "
	    "snapload -p with 6, 7, 8\n");
	assert_int_equal(need & CRIU_MADE, 0);
	o.root = 7;
	*warned = '\0';
	assert_int_equal(criu_check(s, &o), 0);
	assert_null(strstr(warned, "trees"));
	assert_int_equal(need & CRIU_MADE, CRIU_MADE);
	snap_free(s);
	/* one of them cannot be restored */
	s = begin();
	for (pid = 7; pid <= 8; pid++) {
		process_record(pid);
		set("exe", pid == 7 ? "bin/one" : "/bin/one");
		finish(s, (uint64_t)pid);
	}
	o.root = 0;
	o.warn = note_warning;
	*warned = '\0';
	assert_int_equal(criu_check(s, &o), -1);
	assert_null(strstr(warned, "trees"));
	snap_free(s);
}

#ifdef LZ4
/*
 * Blocks of all sizes near one kilobyte are decompressed.
 */
static void
test_packed(void **state)
{
	struct memsource *m;
	struct criuopts o = { .compress = true };
	struct snap *s;
	struct rng r;
	uint8_t b[PAGE];
	size_t n;

	(void)state;
	rng_init(&r, "packed", 7);
	for (n = 960; n < 1040; n++) {
		s = make("abcd", NULL, NULL);
		image_free(s->proc[0]->mem);
		s->proc[0]->mem = NULL;
		m = memsource_new(s, 4, KB);
		memset(m->data, 'x', PAGE);
		rng_bytes(&r, m->data, n);
		segment_add(s->proc[0], IMAGE_MEM, DATA, PAGE, &m->src, 0);
		memcpy(b, m->data, PAGE);
		assert_int_equal(load(s, &o), 0);
		assert_non_null(s = snap_load(dir, NULL));
		assert_int_equal(image_read(s->proc[0]->mem, DATA, image.b,
		    PAGE), 0);
		assert_memory_equal(image.b, b, PAGE);
		snap_free(s);
	}
	/* all pages are in the parent's parent, compressed */
	assert_int_equal(write_upon("p0", "abcdaaaa", NULL, true), 0);
	assert_int_equal(write_upon("p1", "abcdaaaa", "p0", true), 0);
	assert_int_equal(write_upon("p2", "abcdaaaa", "p1", true), 0);
	assert_int_equal(write_upon("p3", "abcdaaaa", "p1", false), -1);
	assert_contains(snap_errstr(), "/p1/pagemap-7.img: compressed pages, "
	    "which criu does not expect below uncompressed ones");
}
#endif

static void
arm(bool on)
{
	armed = on;
}

static int
try_read(void *arg)
{
	return check_memory(arg, "abcdefghABCDijkl");
}

static int
try_upon(void *arg)
{
	char path[PATH_MAX];

	assert_int_equal(shell("rm -rf %s/full", top), 0);
	if (write_upon("full", "abcdefghABCDijkl", "e0", arg != NULL) == -1)
		return -1;
	on_write = NULL;
	snprintf(path, sizeof path, "%s/full", top);
	assert_int_equal(check_memory(path, "abcdefghABCDijkl"), 0);
	on_write = arm;
	return 0;
}

/*
 * Reading and writing are complete or fail.
 */
static void
test_exhausted(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(write_upon("e0", "abcdefgh0000ijkl", NULL, false), 0);
	assert_int_equal(write_upon("e1", "abcdefghABCDijkl", "e0", false), 0);
	assert_int_equal(shell("cd %s && mkdir ar && cp -R e0 ar/e0 && "
	    "cp -R e1 ar/checkpoint && tar -C ar -cf e.tar .", top), 0);
	on_write = arm;
	snprintf(path, sizeof path, "%s/e1", top);
	each_failure(try_read, path);
	snprintf(path, sizeof path, "%s/e.tar", top);
	each_failure(try_read, path);
	each_failure(try_upon, NULL);
	on_write = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view),
		cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_check),
#ifdef LZ4
		cmocka_unit_test(test_packed),
#endif
		cmocka_unit_test(test_exhausted),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
