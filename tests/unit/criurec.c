/*
 * Write records and make images of them: see criurec.h.
 */
#include "criurec.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REGS = 27 };

char dir[80];
char top[64];
char warned[4096];
const char *machine = "amd64";
void (*on_write)(bool);
struct record rec;

/*
 * Set the file name of the record. If data is NULL, remove it.
 */
void
set_bytes(const char *name, const void *data, size_t len)
{
	size_t i;

	for (i = 0; i < rec.n && strcmp(rec.e[i].name, name) != 0; i++)
		continue;
	if (i < rec.n) {
		free(rec.e[i].data);
		rec.e[i] = rec.e[--rec.n];
	}
	if (data == NULL)
		return;
	assert_true(rec.n < FILES);
	snprintf(rec.e[rec.n].name, sizeof rec.e[0].name, "%s", name);
	assert_non_null(rec.e[rec.n].data = malloc(len + 1));
	memcpy(rec.e[rec.n].data, data, len);
	rec.e[rec.n++].len = len;
}

void
set(const char *name, const char *text)
{
	set_bytes(name, text, text == NULL ? 0 : strlen(text));
}

void
put64(uint8_t *p, uint64_t v)
{
	size_t i;

	for (i = 0; i < 8; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

void
set_regs(uint64_t ax, uint64_t orig, uint64_t ip)
{
	uint8_t b[REGS * 8];
	size_t i;

	for (i = 0; i < REGS; i++)
		put64(b + i * 8, 100 + i);
	put64(b + 10 * 8, ax);
	put64(b + 15 * 8, orig);
	put64(b + 16 * 8, ip);
	put64(b + 17 * 8, 0x33);
	/* ds to gs: not selectors of the local descriptor table */
	for (i = 23; i < REGS; i++)
		b[i * 8] &= 0xfb;
	set_bytes("regset/prstatus", b, sizeof b);
}

static void
set_limits(void)
{
	char b[2048];
	size_t i, n;

	n = (size_t)snprintf(b, sizeof b, "%-25s %-20s %-20s %-10s\n", "Limit",
	    "Soft Limit", "Hard Limit", "Units");
	for (i = 0; i < 16; i++)
		n += (size_t)snprintf(b + n, sizeof b - n, "%-25s %-20s %-20s "
		    "%-10s\n", "Max something", i == 3 ? "8388608" :
		    "unlimited", "unlimited", "bytes");
	set("limits", b);
}

static void
set_sigactions(void)
{
	char b[2048];
	size_t n;
	int i;

	for (n = 0, i = 1; i <= 64; i++)
		if (i != 9 && i != 19)
			n += (size_t)snprintf(b + n, sizeof b - n,
			    "%d %x 4000000 0 0\n", i, i == 2 ? 0x400123 : 0);
	set("sigaction", b);
}

/*
 * Begin the record of a thread.
 */
void
thread_record(int pid)
{
	static const uint8_t fp[512], mask[8] = { 0, 2 };
	char b[512];

	rec.n = 0;
	snprintf(b, sizeof b, "%d (one) two) S 1 7 7 0 -1 64 0 0 0 0 0 0 0 0 "
	    "20 0 1 0 0 0 0 0 4194304 4194305 2147352576 0 0 0 0 0 0 0 0 0 17 "
	    "0 0 0 0 0 0 4206592 4206600 4210688 2147352577 2147352578 "
	    "2147352579 2147352580 0\n", pid);
	set("stat", b);
	snprintf(b, sizeof b, "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3\t4\n"
	    "Gid:\t5\t6\t7\t8\nGroups:\t9 10 \nNSpid:\t%d\t%d\nNSpgid:\t7\t7\n"
	    "NSsid:\t7\t7\nCapEff:\t00000001000000ff\nSeccomp:\t0\n",
	    pid + 1000, pid);
	set("status", b);
	set("comm", "one\n");
	set_regs(0, UINT64_MAX, CODE);
	set_bytes("regset/fpregs", fp, sizeof fp);
	set_bytes("sigmask", mask, sizeof mask);
	set("scheduling", "0 0 -5\n");
	set("sigaltstack", "0 0 2\n");
	set("tid_address", "7ffe0010\n");
	set("pdeath_signal", "0\n");
	set("securebits", "0\n");
}

/*
 * Begin the record of process pid, which has no descriptors.
 */
void
process_record(int pid)
{
	thread_record(pid);
	set_limits();
	set_sigactions();
	set("itimers", "real 1000001 2\nvirtual 0 0\nprof 0 0\n");
	/* CPU time of the thread */
	set("posix_timers", "3 -6 0 1 7f 0 0 0 9000000001\n");
	set("loginuid", "1000");
	set("timerslack_ns", "40000\n");
	set("brk", "405000\n");
	set("dumpable", "1\n");
	set("child_subreaper", "0\n");
	set("shares", "vm 7\nfiles 7\nfs 7\nsighand 7\n");
	set("maps",
	    "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "403000-405000 rw-p 00000000 00:00 0 [heap]\n"
	    "7ffe0000-7ffe2000 rw-p 00000000 00:00 0 [stack]\n");
	set("smaps",
	    "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "VmFlags: rd ex mr mw me \n"
	    "403000-405000 rw-p 00000000 00:00 0 [heap]\n"
	    "VmFlags: rd wr mr mw me ac \n"
	    "7ffe0000-7ffe2000 rw-p 00000000 00:00 0 [stack]\n"
	    "VmFlags: rd wr mr mw me gd ac \n");
	set("exe", "/bin/one");
	set("cwd", "/tmp");
	set("root", "/");
	set("pages", "403000 405000\n7ffe1000 7ffe2000\n");
	set("files", "");
}

/*
 * Add process pid to s with some memory, the current record and the n files f.
 * Clear the current record.
 */
struct proc *
finish_with(struct snap *s, uint64_t pid, struct file *f, size_t n)
{
	struct memsource *m;
	struct proc *p;
	size_t i;

	assert_non_null(p = snap_add(s, pid));
	m = memsource_new(s, 12, KB);
	memset(m->data, 'x', 12 * KB);
	segment_add(p, IMAGE_MEM, DATA, 8 * KB, &m->src, 0);
	segment_add(p, IMAGE_MEM, STACK + PAGE, 4 * KB, &m->src, 8 * KB);
	assert_int_equal(linuxrec_pack(p, machine, f, n), 0);
	for (i = 0; i < rec.n; i++)
		free(rec.e[i].data);
	rec.n = 0;
	return p;
}

/*
 * Add process pid to s, with memory and the current record.
 */
struct proc *
finish(struct snap *s, uint64_t pid)
{
	struct file f[FILES];
	size_t i;

	for (i = 0; i < rec.n; i++) {
		f[i].name = rec.e[i].name;
		f[i].data = (uint8_t *)rec.e[i].data;
		f[i].len = rec.e[i].len;
	}
	return finish_with(s, pid, f, rec.n);
}

struct snap *
begin(void)
{
	struct snap *s;

	assert_non_null(s = snap_new());
	assert_true(asprintf(&s->header, "process snapshot 1 a@b %s 1 "
	    "\"Linux 6\"", machine) > 0);
	return s;
}

void
note_warning(void *arg, const char *text)
{
	size_t n;

	(void)arg;
	n = strlen(warned);
	snprintf(warned + n, sizeof warned - n, "%s\n", text);
}

static struct buf first;	/* the first images, see images_same() */

void
images_forget(void)
{
	buf_free(&first);
}

/*
 * Append the name and the contents of a file to first, or compare them with
 * those at *at.
 */
static void
image_same(const char *name, bool add, size_t *at)
{
	image_get(name);
	if (add) {
		buf_add(&first, name, strlen(name));
		buf_add(&first, image.b, image.n);
		return;
	}
	assert_true(first.len - *at >= strlen(name) + image.n);
	assert_memory_equal(first.data + *at, name, strlen(name));
	*at += strlen(name);
	assert_memory_equal(first.data + *at, image.b, image.n);
	*at += image.n;
}

/*
 * Images that were written although an allocation failed are the same as all
 * others since images_forget().
 */
static void
images_same(void)
{
	struct dirent **e;
	size_t at = 0;
	bool add = first.len == 0;
	int i, n;

	n = scandir(dir, &e, NULL, alphasort);
	assert_true(n > 2);
	for (i = 0; i < n; i++) {
		if (*e[i]->d_name != '.')
			image_same(e[i]->d_name, add, &at);
		free(e[i]);
	}
	free(e);
	assert_true(add || at == first.len);
}

/*
 * Write the images of snapshot s, and free it.
 */
int
load(struct snap *s, struct criuopts *o)
{
	struct criustat st = { 0 };
	struct stream in;
	struct buf b = { 0 };
	int rc;

	if (access(dir, F_OK) == 0)
		assert_int_equal(shell("rm -rf %s", dir), 0);
	*warned = '\0';
	o->warn = note_warning;
	snap_bytes(s, &b);
	snap_free(s);
	stream_file(&in, b.data, b.len);
	if (on_write != NULL)
		on_write(true);
	rc = images_write(in.path, dir, o, &st);
	if (on_write != NULL)
		on_write(false);
	stream_close(&in);
	buf_free(&b);
	if (rc == -1)
		assert_int_equal(access(dir, F_OK), -1);
	else if (on_write != NULL)
		images_same();
	return rc;
}

/*
 * Write images of a snapshot of process 7 with the current record.
 */
int
load_one(struct criuopts *o)
{
	struct snap *s;

	s = begin();
	finish(s, 7);
	return load(s, o);
}

/*
 * Begin the record of process 7 with the n files, on descriptors from 3 on.
 */
void
open_record(const char *const *file, size_t n)
{
	char list[512], name[32];
	size_t i, k;

	process_record(7);
	for (i = k = 0; i < n; i++) {
		snprintf(name, sizeof name, "file/%zu", i + 1);
		set(name, file[i]);
		k += (size_t)snprintf(list + k, sizeof list - k, "%zu %zu\n",
		    i + 3, i + 1);
	}
	list[k] = '\0';
	set("files", list);
}

/*
 * Write images of process 7, which is in the cgroups in. told is its file
 * cgroups/directories.
 */
int
load_cgroups(unsigned int mode, const char *in, const char *told)
{
	struct criuopts o = { .cgroups = mode, .note = note_warning };

	process_record(7);
	set("cgroup", in);
	set("cgroups/directories", told);
	return load_one(&o);
}

int
records_setup(void **state)
{
	(void)state;
	/* prefer /dev/shm, where fsync(2) is fast */
	snprintf(top, sizeof top, "%s/t_criurec.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof dir, "%s/img", top);
	return 0;
}

int
records_teardown(void **state)
{
	(void)state;
	return shell("rm -rf %s", top);
}
