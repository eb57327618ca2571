/*
 * Functions of the unit tests.
 */
#include "model.h"
#include "num.h"
#include "record/record.h"
#include "util.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
rng_init(struct rng *r, const char *what, uint64_t seed)
{
	const char *s;

	if ((s = getenv("TEST_SEED")) != NULL)
		seed = strtoull(s, NULL, 0);
	r->state = seed;
	print_message("# %s: TEST_SEED=%" PRIu64 "\n", what, seed);
}

int
timeout(int n)
{
	const char *s;

	s = getenv("TIMEFACTOR");
	return s == NULL ? n : n * (int)strtol(s, NULL, 10);
}

/* splitmix64 */
uint64_t
rng_next(struct rng *r)
{
	uint64_t z;

	z = r->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t
rng_below(struct rng *r, uint64_t n)
{
	return rng_next(r) % n;
}

bool
rng_percent(struct rng *r, unsigned int percent)
{
	return rng_below(r, 100) < percent;
}

void
rng_bytes(struct rng *r, void *buf, size_t n)
{
	uint8_t *p;

	for (p = buf; n > 0; n--)
		*p++ = (uint8_t)rng_next(r);
}

static int
memsource_read(struct source *src, const struct run *r, size_t n,
    uint8_t *buf)
{
	struct memsource *m = (struct memsource *)src;
	uint64_t k, loc;
	size_t i;

	if (m->broken)
		return errstr_set("the source is broken");
	for (i = 0; i < n; i++)
		for (k = 0; k < r[i].n; k++) {
			loc = r[i].loc + k * src->pitch;
			assert_int_equal(loc % src->pitch, 0);
			assert_true(loc / src->pitch < m->nkb);
			m->nread++;
			if (m->lost[loc / src->pitch]) {
				errstr_set("kilobyte %" PRIu64 " is lost",
				    loc / src->pitch);
				return SOURCE_LOST;
			}
			memcpy(buf, m->data + loc, KB);
			buf += KB;
		}
	return SOURCE_OK;
}

static void
memsource_free(struct source *src)
{
	struct memsource *m = (struct memsource *)src;

	free(m->data);
	free(m->lost);
}

struct memsource *
memsource_new(struct snap *s, size_t nkb, uint32_t pitch)
{
	struct memsource *m;

	m = calloc(1, sizeof *m);
	assert_non_null(m);
	m->data = calloc(nkb, pitch);
	m->lost = calloc(nkb, sizeof *m->lost);
	m->src.name = strdup("memory source");
	assert_true(m->data != NULL && m->lost != NULL &&
	    m->src.name != NULL);
	m->nkb = nkb;
	m->ops.many = memsource_read;
	m->ops.free = memsource_free;
	m->src.ops = &m->ops;
	m->src.pitch = pitch;
	source_add(s, &m->src);
	return m;
}

uint8_t *
memsource_kb(struct memsource *m, size_t i)
{
	assert_true(i < m->nkb);
	return m->data + i * m->src.pitch;
}

/*
 * Open a stream as an unnamed regular file.
 */
void
stream_file(struct stream *st, const void *data, size_t len)
{
	memset(st, 0, sizeof *st);
	st->fd = memfd_create("stream", MFD_CLOEXEC);
	assert_true(st->fd != -1);
	assert_int_equal(write(st->fd, data, len), len);
	snprintf(st->path, sizeof st->path, "/proc/self/fd/%d", st->fd);
}

static void *
pipe_write(void *arg)
{
	struct stream *st = arg;
	size_t off, n;

	for (off = 0; off < st->len; off += n) {
		n = st->len - off < st->piece ? st->len - off : st->piece;
		if (write(st->to, st->data + off, n) != (ssize_t)n)
			break;
	}
	close(st->to);
	return NULL;
}

/*
 * Open a stream as a pipe that is filled piece bytes at a time.
 */
void
stream_pipe(struct stream *st, const void *data, size_t len, size_t piece)
{
	int fd[2];

	memset(st, 0, sizeof *st);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	st->fd = fd[0];
	st->to = fd[1];
	st->piece = piece;
	st->len = len;
	st->data = malloc(len + 1);
	assert_non_null(st->data);
	memcpy(st->data, data, len);
	snprintf(st->path, sizeof st->path, "/proc/self/fd/%d", st->fd);
	if (len <= 65536 && piece >= len) {
		pipe_write(st);
		return;
	}
	assert_int_equal(pthread_create(&st->thread, NULL, pipe_write, st), 0);
	st->piped = true;
}

void
stream_close(struct stream *st)
{
	uint8_t rest[4096];

	if (st->piped) {
		while (read(st->fd, rest, sizeof rest) > 0)
			continue;
		pthread_join(st->thread, NULL);
	}
	close(st->fd);
	free(st->data);
}

/*
 * Read a snapshot from bytes, through a file or a pipe.
 */
struct snap *
stream_read(const void *data, size_t len, bool pipe)
{
	struct stream st;
	struct snap *s;

	if (pipe)
		stream_pipe(&st, data, len, 65536);
	else
		stream_file(&st, data, len);
	s = snap_load(st.path, NULL);
	stream_close(&st);
	return s;
}

/*
 * Write a snapshot to memory through standard output.
 */
int
try_write(struct snap *s, struct buf *b)
{
	struct output *out;
	uint8_t *p;
	int fd, save, rc;
	off_t len;

	fflush(stdout);
	fd = memfd_create("stream", MFD_CLOEXEC);
	save = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(fd != -1 && save != -1);
	dup2(fd, STDOUT_FILENO);
	rc = -1;
	if ((out = output_open(NULL)) != NULL) {
		if ((rc = snap6_write(s, out, NULL, NULL)) == -1)
			output_abort(out);
		else
			rc = output_commit(out);
	}
	dup2(save, STDOUT_FILENO);
	close(save);
	if (rc == 0) {
		len = lseek(fd, 0, SEEK_END);
		memset(b, 0, sizeof *b);
		if ((p = buf_room(b, (size_t)len + 1)) == NULL)
			rc = buf_check(b);
		else {
			assert_int_equal(pread(fd, p, (size_t)len, 0), len);
			b->len = (size_t)len;
		}
	}
	close(fd);
	return rc;
}

void
snap_bytes(struct snap *s, struct buf *b)
{
	if (try_write(s, b) == -1)
		fail_msg("%s", snap_errstr());
}

/*
 * Remove the trailer of a stream.
 */
void
trailer_strip(struct buf *b)
{
	size_t i, len;

	assert_true(b->len > 24);
	assert_memory_equal(b->data + b->len - 8, "SNAPEND\n", 8);
	for (i = len = 0; i < 8; i++)
		len |= (size_t)b->data[b->len - 24 + i] << i * 8;
	assert_true(len < b->len);
	b->len -= len;
	assert_memory_equal(b->data + b->len, "          0 proc\n", 17);
}

/*
 * Copy all bytes of a segment, including hidden ones, to buf, which has room
 * for segment_kb(s) * KB bytes.
 */
void
segment_bytes(const struct segment *s, uint8_t *buf)
{
	const struct extent *e;
	struct run r;
	uint64_t kb;

	for (kb = 0; kb < s->kb;) {
		e = segment_extent(s, kb);
		assert_non_null(e);
		assert_int_equal(e->kb, kb);
		assert_true(e->n > 0);
		kb += e->n;
		if (e->src == NULL)
			memset(buf + e->kb * KB, 0, e->n * KB);
		else {
			r.loc = e->loc;
			r.n = e->n;
			assert_int_equal(source_read(e->src, &r, 1,
			    buf + e->kb * KB), SOURCE_OK);
		}
	}
	assert_int_equal(kb, segment_kb(s));
	assert_int_equal(kb, s->kb);
}

void
assert_images_equal(struct image *x, struct image *y)
{
	uint8_t *a, *b;
	size_t i, len;

	assert_int_equal(x == NULL || x->nseg == 0,
	    y == NULL || y->nseg == 0);
	if (x == NULL || x->nseg == 0)
		return;
	assert_int_equal(x->nseg, y->nseg);
	for (i = 0; i < x->nseg; i++) {
		assert_int_equal(x->seg[i]->base, y->seg[i]->base);
		assert_int_equal(x->seg[i]->len, y->seg[i]->len);
		len = segment_kb(x->seg[i]) * KB;
		a = malloc(len);
		b = malloc(len);
		assert_true(a != NULL && b != NULL);
		segment_bytes(x->seg[i], a);
		segment_bytes(y->seg[i], b);
		assert_memory_equal(a, b, x->seg[i]->len);
		free(a);
		free(b);
	}
}

/*
 * Check that a and b have the same header, processes in the same order, files,
 * segments and bytes.
 */
void
assert_snaps_equal(struct snap *a, struct snap *b)
{
	struct proc *p, *q;
	struct file *f;
	size_t i, k;

	assert_string_equal(a->header, b->header);
	assert_int_equal(a->nproc, b->nproc);
	for (i = 0; i < a->nproc; i++) {
		p = a->proc[i];
		q = b->proc[i];
		assert_int_equal(p->pid, q->pid);
		assert_ptr_equal(snap_find(b, q->pid), q);
		assert_int_equal(p->nfile, q->nfile);
		for (k = 0; k < p->nfile; k++) {
			f = proc_file(q, p->file[k].name);
			assert_non_null(f);
			assert_int_equal(f->len, p->file[k].len);
			if (f->len > 0)
				assert_memory_equal(f->data, p->file[k].data,
				    f->len);
		}
		assert_images_equal(p->text, q->text);
		assert_images_equal(p->mem, q->mem);
	}
}

void
number_put(const struct machine *m, uint8_t *p, uint64_t v, size_t n)
{
	size_t i;

	num_put(p, v, n);
	for (i = 0; m->big && i < n; i++, v >>= 8)
		p[n - 1 - i] = (uint8_t)v;
}

void
file_set(struct proc *p, const char *name, const void *data, size_t len)
{
	uint8_t *copy;

	copy = malloc(len + 1);
	assert_non_null(copy);
	memcpy(copy, data, len);
	assert_int_equal(proc_setfile(p, name, copy, len), 0);
}

/*
 * Add a segment to the text or memory of a process. Its kilobytes are at loc in
 * src.
 */
struct segment *
segment_add(struct proc *p, enum image_kind kind, uint64_t base,
    uint64_t len, struct source *src, uint64_t loc)
{
	struct image **im = kind == IMAGE_TEXT ? &p->text : &p->mem;
	struct segment *s;

	if (*im == NULL)
		*im = image_new(p, kind);
	s = segment_new(base, len);
	assert_true(*im != NULL && s != NULL);
	assert_int_equal(segment_append(s, segment_kb(s), src, loc), 0);
	assert_int_equal(image_insert(*im, s), 0);
	return s;
}

/*
 * Make a segment of random length and extents. Many pages are equal.
 */
static void
make_segment(struct rng *r, struct proc *p, enum image_kind kind,
    uint64_t base, uint64_t len, struct memsource **src)
{
	struct image **im = kind == IMAGE_TEXT ? &p->text : &p->mem;
	struct memsource *m;
	struct segment *s;
	uint64_t n, left;

	if (*im == NULL)
		*im = image_new(p, kind);
	s = segment_new(base, len);
	assert_true(*im != NULL && s != NULL);
	for (left = segment_kb(s); left > 0; left -= n) {
		n = 1 + rng_below(r, left < 9 ? left : 9);
		m = rng_percent(r, 20) ? NULL : src[rng_below(r, 2)];
		assert_int_equal(segment_append(s, n, m == NULL ? NULL :
		    &m->src, m == NULL ? 0 : rng_below(r, m->nkb - n) *
		    m->src.pitch), 0);
	}
	assert_int_equal(image_insert(*im, s), 0);
}

static uint64_t
make_length(struct rng *r, unsigned int most)
{
	uint64_t n;

	n = (1 + rng_below(r, most)) * KB;
	return rng_percent(r, 25) ? n - rng_below(r, KB) : n;
}

static void
make_files(struct rng *r, struct proc *p)
{
	static const char *const name[] = {
		"segment", "fd", "fpregs", "kregs", "noteid", "ns", "proc",
		"regs", "status", "args", "profile", "x-1"
	};
	uint8_t data[3000];
	size_t i, len;

	for (i = 0; i < sizeof name / sizeof *name; i++) {
		if (!rng_percent(r, 40))
			continue;
		len = rng_percent(r, 10) ? 0 : rng_below(r, sizeof data);
		rng_bytes(r, data, len);
		file_set(p, name[i], data, len);
	}
}

/*
 * Make a random snapshot of a few processes. If overlap is set, segments may
 * overlap.
 */
struct snap *
snap_make(struct rng *r, bool overlap)
{
	struct memsource *src[2];
	struct snap *s;
	struct proc *p;
	uint64_t base, len;
	size_t i, k, n;

	s = snap_new();
	assert_non_null(s);
	s->header = strdup("process snapshot 0 glenda@cirno amd64 0 \"t\"");
	for (i = 0; i < 2; i++) {
		src[i] = memsource_new(s, 40, i == 0 ? KB : KB + 1);
		for (k = 0; k < src[i]->nkb; k++) {
			memset(memsource_kb(src[i], k),
			    rng_percent(r, 15) ? 0 : 'a' + (int)(k % 5), KB);
			if (rng_percent(r, 50))
				memsource_kb(src[i], k)[rng_below(r, KB)] =
				    (uint8_t)rng_below(r, 4);
		}
	}
	n = 1 + rng_below(r, 4);
	for (i = 0; i < n; i++) {
		base = rng_percent(r, 10) ? rng_next(r) : rng_below(r, 100000);
		if (snap_find(s, base) != NULL)
			continue;
		p = snap_add(s, base);
		assert_non_null(p);
		make_files(r, p);
		for (base = rng_percent(r, 20) ? 4096 : 0; rng_percent(r, 50);
		    base += len + rng_below(r, 3) * KB) {
			len = make_length(r, 12);
			make_segment(r, p, IMAGE_TEXT, base, len, src);
		}
		base = rng_percent(r, 50) ? 0x7ffe12345000 :
		    rng_below(r, 1 << 20);
		for (; rng_percent(r, 75); base += len + rng_below(r, 9000)) {
			len = make_length(r, 40);
			if (overlap && rng_percent(r, 40))
				base -= rng_below(r, base < 20 * KB ? base :
				    20 * KB) / 512 * 512;
			make_segment(r, p, IMAGE_MEM, base, len, src);
		}
		if (rng_percent(r, 10))
			make_segment(r, p, IMAGE_MEM, -(uint64_t)5 * KB,
			    5 * KB, src);
	}
	return s;
}

void
assert_contains(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

void
assert_between_at(uintmax_t v, uintmax_t least, uintmax_t most,
    const char *file, int line)
{
	if (v < least || v > most) {
		print_error("%ju is not between %ju and %ju\n", v, least, most);
		_fail(file, line);
	}
}

void
testrec_file(struct buf *b, const char *name, const void *data, size_t len)
{
	if (b->len == 0)
		buf_puts(b, "linux amd64 1\n");
	buf_printf(b, "%s\n%11zu ", name, len);
	buf_add(b, data, len);
}

void
testrec_text(struct buf *b, const char *name, const char *text)
{
	testrec_file(b, name, text, strlen(text));
}

/*
 * Give a record to a process and apply it. Empty the buffer.
 */
void
testrec_give(struct buf *b, struct proc *p)
{
	assert_int_equal(buf_check(b), 0);
	assert_int_equal(proc_setfile(p, "proc", b->data, b->len), 0);
	memset(b, 0, sizeof *b);
	if (linuxrec_apply(p) == -1)
		fail_msg("%s", snap_errstr());
}

int
images_write(const char *path, const char *dir, struct criuopts *o,
    struct criustat *st)
{
	struct readopts ro = { .progress = o->progress };
	struct snap *s;
	int rc;

	if ((o->store = ro.store = criu_store(dir, o)) == NULL)
		return -1;
	s = snap_load(path, &ro);
	rc = s == NULL ? -1 : criu_write(s, dir, o, st);
	criu_storefree(o->store);
	o->store = NULL;
	snap_free(s);
	return rc;
}

int
shell(const char *fmt, ...)
{
	char command[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof command, fmt, ap);
	va_end(ap);
	return system(command);
}
