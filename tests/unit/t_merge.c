/*
 * Merging snapshots: numbers in use, references to them, and embedded files.
 */
#include "model.h"
#include "record/record.h"
#include "space.h"
#include "util.h"
#include "io/io.h"

#include <sys/sysmacros.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct snap *
snap_begin(const char *header)
{
	struct snap *s;

	s = snap_new();
	assert_non_null(s);
	s->header = strdup(header);
	return s;
}

/*
 * A process with a Linux record of these files: name, content, ..., NULL.
 */
static struct proc *
proc_begin(struct snap *s, uint64_t pid, ...)
{
	struct file f[32];
	struct proc *p;
	const char *data;
	va_list ap;
	size_t n;

	p = snap_add(s, pid);
	assert_non_null(p);
	va_start(ap, pid);
	for (n = 0; (f[n].name = va_arg(ap, char *)) != NULL; n++) {
		data = va_arg(ap, const char *);
		f[n].data = (uint8_t *)(uintptr_t)data;
		f[n].len = strlen(data);
	}
	va_end(ap);
	assert_int_equal(linuxrec_pack(p, "amd64", f, n), 0);
	assert_int_equal(linuxrec_apply(p), 0);
	return p;
}

/*
 * Check that a file of a Linux record has this content.
 */
static void
assert_record(struct snap *s, uint64_t pid, const char *name,
    const char *want)
{
	struct linuxrec r;
	struct recfile f;
	struct proc *p;

	assert_non_null(p = snap_find(s, pid));
	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	if (!linuxrec_find(&r, name, &f))
		fail_msg("process %ju: no %s", (uintmax_t)pid, name);
	if (f.len != strlen(want) || memcmp(f.data, want, f.len) != 0)
		fail_msg("process %ju: %s: %.*s", (uintmax_t)pid, name,
		    (int)f.len, (const char *)f.data);
	linuxrec_close(&r);
}

/*
 * Numbers of processes, threads and open files.
 */
static void
test_numbers(void **state)
{
	struct snap *a, *b;
	const size_t *at;
	size_t n;

	(void)state;
	a = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
	proc_begin(a, 7, "files", "0 0\n3 4\n", "file/0", "type reg\n",
	    "file/4", "type reg\n", NULL);
	proc_begin(a, 9, NULL);
	b = snap_begin("process snapshot 2 y@there amd64 0 \"\"");
	proc_begin(b, 7, "files", "0 0\n5 1\n", "file/0", "type epoll\n"
	    "target 5 1 2 1\ntarget 6 1 2 -\nowner 1 7 29 7 7\n", "file/1",
	    "type unix\npassed 0 0\nsender 0 3 4 7\nowner 2 -7 0 7 7\n",
	    "posix_timers", "7 1 10 4 7 7 7 7 7\n1 7 7 1 7 0 0 0 0\n", NULL);
	proc_begin(b, 8, "thread", "7\n", "shares", "vm 7\nfiles 7\nfs 8\n"
	    "sighand 7\n", NULL);
	proc_begin(b, 9, "shares", "vm 9\nfiles 7\nfs 9\nsighand 9\n",
	    "origin", "1 0 z@first\n", NULL);
	assert_int_equal(snap_merge(a, b), 0);
	assert_int_equal(b->nproc, 0);
	assert_int_equal(a->nproc, 5);
	assert_record(a, 7, "files", "0 0\n3 4\n");
	assert_record(a, 10, "files", "0 5\n5 6\n");
	assert_record(a, 10, "file/5", "type epoll\ntarget 5 1 2 6\n"
	    "target 6 1 2 -\nowner 1 10 29 7 7\n");
	assert_record(a, 10, "file/6", "type unix\npassed 0 5\n"
	    "sender 0 3 4 10\nowner 2 -7 0 7 7\n");
	assert_record(a, 10, "posix_timers", "7 1 10 4 7 10 7 7 7\n"
	    "1 7 7 1 7 0 0 0 0\n");
	assert_record(a, 10, "origin", "7 2 y@there amd64 0 \"\"\n");
	assert_record(a, 8, "thread", "10\n");
	assert_record(a, 8, "shares", "vm 10\nfiles 10\nfs 8\nsighand 10\n");
	assert_record(a, 11, "shares", "vm 11\nfiles 10\nfs 11\nsighand 11\n");
	assert_record(a, 11, "origin", "1 0 z@first\n");
	assert_record(a, 8, "part", "1\n");
	assert_record(a, 11, "part", "1\n");
	assert_int_equal(snap_find(a, 8)->leader, 10);
	assert_int_equal(snap_threads(a, 10, &at, &n), 0);
	assert_int_equal(n, 1);
	snap_free(b);
	snap_free(a);
}

/*
 * CRIU images of a merged snapshot cannot be restored. They do not matter to a
 * process of a part that came without images.
 */
static void
test_images(void **state)
{
	struct criuopts o = { 0 };
	struct snap *a, *b;

	(void)state;
	a = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
	proc_begin(a, 7, "criu/inventory.img", "x", NULL);
	assert_int_equal(criu_check(a, &o), 0);
	b = snap_begin("process snapshot 2 y@there amd64 0 \"\"");
	proc_begin(b, 9, NULL);
	assert_int_equal(snap_merge(a, b), 0);
	assert_int_equal(criu_check(a, &o), -1);
	assert_contains(snap_errstr(), "images in a merged snapshot");
	o.root = 7;
	assert_int_equal(criu_check(a, &o), -1);
	assert_contains(snap_errstr(), "images in a merged snapshot");
	o.root = 9;
	assert_int_equal(criu_check(a, &o), -1);
	assert_contains(snap_errstr(), "lacks the records needed to restore");
	snap_free(b);
	snap_free(a);
}

/*
 * Processes captured at the same time stay together: each merged snapshot
 * becomes a part, as does each of its own parts.
 */
static void
test_parts(void **state)
{
	struct snap *s[4];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		s[i] = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
		proc_begin(s[i], 7, "file/0", "type pidfd\npid 8\n", NULL);
		proc_begin(s[i], 8, NULL);
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	assert_int_equal(snap_merge(s[2], s[3]), 0);
	assert_int_equal(snap_merge(s[0], s[2]), 0);
	assert_record(s[0], 9, "part", "1\n");
	assert_record(s[0], 11, "part", "2\n");
	assert_record(s[0], 13, "part", "3\n");
	assert_record(s[0], 7, "file/0", "type pidfd\npid 8\n");
	assert_record(s[0], 13, "file/3", "type pidfd\npid 14\n");
	for (i = 0; i < 4; i++)
		snap_free(s[i]);
}

/*
 * Select the processes of the parts in the mask arg.
 */
static int
part_wanted(void *arg, struct snap *s, struct proc *p)
{
	struct identity id;

	(void)s;
	assert_int_equal(proc_identity(&id, p), 0);
	return (*(const unsigned int *)arg >> id.part & 1) != 0;
}

/*
 * A part is kept alone, or with some others. Embedded files are kept with the
 * processes that mapped them.
 */
static void
test_apart(void **state)
{
	unsigned int some = 1 << 0 | 1 << 2, last = 1 << 2;
	static const char maps[] = "1000-2000 r-xp 0 08:01 %d %s\n";
	struct snap *s[3];
	struct identity id;
	char line[80], path[16], open[48];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		snprintf(line, sizeof line,
		    "process snapshot %zu x@here amd64 0 \"\"", i + 1);
		s[i] = snap_begin(line);
		snprintf(path, sizeof path, "/lib/%zu", i);
		snprintf(line, sizeof line, maps, (int)i + 1, path);
		snprintf(open, sizeof open, "type reg\nino %d\ndev 08:02\n",
		    (int)i + 1);
		proc_begin(s[i], 7, "maps", line, "file/1", open,
		    "criu/mm-7.img", path, NULL);
		proc_begin(s[i], 8, "thread", "7\n", NULL);
		assert_int_equal(embedded_set(snap_add(s[i], 1 << 30 | (i + 8)),
		    makedev(8, 2), i + 1, "/open"), 0);
		assert_int_equal(embedded_set(snap_add(s[i], 1 << 30 | i),
		    makedev(8, 1), i + 1, path), 0);
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	assert_int_equal(snap_merge(s[0], s[2]), 0);
	assert_int_equal(s[0]->nproc, 12);
	assert_non_null(s[0] = snap_keep(s[0], part_wanted, &some));
	assert_int_equal(s[0]->nproc, 8);
	assert_string_equal(s[0]->proc[6]->embedded->path, "/open");
	assert_string_equal(s[0]->proc[7]->embedded->path, "/lib/2");
	assert_string_equal(s[0]->header,
	    "process snapshot 1 x@here amd64 0 \"\"");
	assert_non_null(snap_find(s[0], 7));
	assert_null(snap_find(s[0], 9));
	/* images are kept if all processes of their part are */
	assert_record(s[0], 7, "criu/mm-7.img", "/lib/0");
	assert_non_null(s[0] = snap_keep(s[0], part_wanted, &last));
	assert_int_equal(s[0]->nproc, 4);
	assert_string_equal(s[0]->header,
	    "process snapshot 3 x@here amd64 0 \"\"");
	assert_int_equal(proc_identity(&id, s[0]->proc[0]), 0);
	assert_int_equal(id.pid, 7);
	assert_int_equal(s[0]->proc[1]->leader, s[0]->proc[0]->pid);
	last = 1;
	assert_null(snap_keep(s[0], part_wanted, &last));
	snap_free(s[1]);
	snap_free(s[2]);
}

static int
second_wanted(void *arg, struct snap *s, struct proc *p)
{
	(void)arg;
	(void)s;
	return p->pid == 8 || p->pid == 10;
}

/*
 * A process is kept alone, with the files in other records that it needs: its
 * open files and the files that these refer to, filters of its threads, and its
 * namespaces. Other files of those records are dropped.
 */
static void
test_keep(void **state)
{
	struct linuxrec r;
	struct recfile f;
	struct snap *s;

	(void)state;
	s = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
	proc_begin(s, 7, "files", "0 1\n1 5\n", "file/1", "type epoll\n"
	    "target 3 1 0 2\ntarget 4 1 0 -\n", "file/2", "type unix\n"
	    "ino 40\npassed 0 3\n", "file/3", "type pipe\nino 41\n",
	    "file/5", "type pipe\nino 42\n", "pipe/41", "in it",
	    "pipe/42", "not its own", "socket/40", "waits",
	    "seccomp/0", "filter", "seccomp/1", "not its own",
	    "ns/net", "net:[1]", "net/links", "of both",
	    "ns/ipc", "ipc:[1]", "sysvipc/sem", "not its own",
	    "cgroup", "0::/a", "cgroups/directories", "not its own",
	    "sysvipc/shm", "not its own", "taken", "time 1\n",
	    "criu/files.img", "of all", NULL);
	proc_begin(s, 8, "files", "0 1\n3 6\n", "file/6", "type reg\n",
	    "ns/net", "net:[1]", "ns/ipc", "ipc:[2]", "cgroup", "0::/b",
	    "shares", "vm 8\nfiles 7\nfs 7\nsighand 8\n",
	    "criu/mm-8.img", "one", NULL);
	proc_begin(s, 9, "thread", "8\n", "seccomp-filters", "0 0\n", NULL);
	proc_begin(s, 10, "shares", "vm 10\nfiles 7\nfs 7\nsighand 7\n",
	    NULL);
	assert_non_null(s = snap_keep(s, second_wanted, NULL));
	assert_int_equal(s->nproc, 3);
	assert_record(s, 8, "file/1", "type epoll\n"
	    "target 3 1 0 2\ntarget 4 1 0 -\n");
	assert_record(s, 8, "file/2", "type unix\nino 40\npassed 0 3\n");
	assert_record(s, 8, "file/3", "type pipe\nino 41\n");
	assert_record(s, 8, "pipe/41", "in it");
	assert_record(s, 8, "socket/40", "waits");
	assert_record(s, 8, "net/links", "of both");
	assert_record(s, 8, "taken", "time 1\n");
	assert_record(s, 9, "seccomp/0", "filter");
	assert_record(s, 8, "shares", "vm 8\nfiles 8\nfs 8\nsighand 8\n");
	assert_record(s, 10, "shares",
	    "vm 10\nfiles 8\nfs 8\nsighand 10\n");
	assert_int_equal(linuxrec_open(&r, proc_file(snap_find(s, 8),
	    "proc")), 0);
	assert_int_equal(r.n, 13);
	assert_false(linuxrec_find(&r, "criu/mm-8.img", &f));
	linuxrec_close(&r);
	snap_free(s);
}

static int
all_wanted(void *arg, struct snap *s, struct proc *p)
{
	(void)arg;
	(void)s;
	return !proc_isthread(p) && p->pid != 10;
}

/*
 * Mapped files are identified by device and inode, or by path if these are
 * unknown. A malformed list of mappings is an error.
 */
static void
test_keepmapped(void **state)
{
	static const struct {
		unsigned int minor;
		uint64_t ino;
		const char *path;
		bool	 kept;
	} t[] = {
		{ 1, 5, "/a", true }, { 2, 5, "/a", true },
		{ 2, 6, "/a", true }, { 0, 0, "/a", true },
		{ 0, 0, "/b", true }, { 3, 5, "/a", false }
	};
	struct snap *s;
	size_t i, n;

	(void)state;
	s = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
	proc_begin(s, 8, "maps",
	    "1000-2000 r-xp 00000000 08:01 5 /a\n"
	    "2000-3000 r-xp 00000000 08:02 5 /a\n"
	    "3000-4000 r-xp 00000000 08:02 6 /a\n"
	    "4000-5000 r-xp 00000000 00:00 0 /a\n"
	    "5000-6000 r-xp 00000000 00:00 0 /b\n"
	    "6000-7000 rw-p 00001000 00:00 0 /b\n", NULL);
	proc_begin(s, 10, NULL);
	for (i = 0; i < sizeof t / sizeof *t; i++)
		assert_int_equal(embedded_set(snap_add(s, 1 << 30 | i),
		    makedev(t[i].ino == 0 ? 0 : 8, t[i].minor), t[i].ino,
		    t[i].path), 0);
	assert_non_null(s = snap_keep(s, all_wanted, NULL));
	for (i = n = 0; i < sizeof t / sizeof *t; i++) {
		n += t[i].kept;
		assert_int_equal(snap_find(s, 1 << 30 | i) != NULL, t[i].kept);
	}
	assert_int_equal(s->nproc, 1 + n);
	proc_begin(s, 9, "maps", "1000-1000 r\n", NULL);
	assert_null(snap_keep(s, all_wanted, NULL));
}

/*
 * Odd numbers: a thread whose process is missing is not given to a process of
 * the other snapshot. The largest number is replaced by a free one if it is in
 * use.
 */
static void
test_odd(void **state)
{
	struct snap *a, *b;
	struct proc *p;

	(void)state;
	a = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
	proc_begin(a, 7, NULL);
	proc_begin(a, 6, NULL);
	proc_begin(a, 0, NULL);
	proc_begin(a, UINT64_MAX, NULL);
	b = snap_begin("process snapshot 2 y@there amd64 0 \"\"");
	p = proc_begin(b, UINT64_MAX, NULL);
	proc_begin(b, 20, "thread", "7\n", NULL);
	proc_begin(b, 21, "thread", "7\n", NULL);
	proc_begin(b, 22, "thread", "6\n", NULL);
	proc_begin(b, 19, "thread", "5\n", NULL);
	assert_int_equal(snap_merge(a, b), 0);
	assert_int_equal(a->nproc, 9);
	assert_ptr_equal(snap_find(a, 23), p);
	assert_record(a, 20, "thread", "25\n");
	assert_record(a, 21, "thread", "25\n");
	assert_record(a, 22, "thread", "24\n");
	assert_record(a, 19, "thread", "5\n");
	assert_null(snap_find(a, 24));
	assert_null(snap_find(a, 25));
	snap_free(b);
	snap_free(a);
}

static struct proc *
carry_as(struct snap *s, struct memsource *m, uint64_t ino, size_t kb,
    const char *name)
{
	struct vma v = { .dev = makedev(8, 1), .ino = ino,
	    .name = (char *)(uintptr_t)name };
	struct proc *p;

	p = embedded_add(s, &v, &m->src, 4 * KB);
	assert_non_null(p);
	if (kb > 0) {
		image_free(p->text);
		p->text = NULL;
		segment_add(p, IMAGE_TEXT, 0, 4 * KB, &m->src, kb * KB);
	}
	assert_int_equal(linuxrec_pack(p, "amd64", NULL, 0), 0);
	return p;
}

static struct proc *
carry(struct snap *s, struct memsource *m, uint64_t ino, size_t kb)
{
	return carry_as(s, m, ino, kb, "/lib/x.so");
}

/*
 * Files with the same device and inode but other paths are told apart: only the
 * one that differs between the snapshots gets another device.
 */
static void
test_samenumbers(void **state)
{
	static const char maps[] =
	    "00400000-00401000 r-xp 00000000 08:01 5       /lib/a.so\n"
	    "00500000-00501000 r-xp 00001000 08:01 5       /lib/b.so\n"
	    "00600000-00601000 r-xp 00001000 08:01 5       /lib/c.so\n";
	struct memsource *m;
	struct snap *s[2];
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "samenumbers", 1);
	for (i = 0; i < 2; i++) {
		s[i] = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
		m = memsource_new(s[i], 16, KB);
		rng_bytes(&r, m->data, 16 * KB);
		proc_begin(s[i], 7, "maps", maps, NULL);
		memset(m->data, 1, 4 * KB);
		carry_as(s[i], m, 5, 0, "/lib/a.so");
		carry_as(s[i], m, 5, 8, "/lib/b.so");
		memset(m->data + 12 * KB, 2, 4 * KB);
		carry_as(s[i], m, 5, 12, "/lib/c.so");
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	snap_free(s[1]);
	assert_record(s[0], 8, "maps",
	    "00400000-00401000 r-xp 00000000 08:01 5       /lib/a.so\n"
	    "00500000-00501000 r-xp 00001000 fff:00 5       /lib/b.so\n"
	    "00600000-00601000 r-xp 00001000 08:01 5       /lib/c.so\n");
	snap_free(s[0]);
}

/*
 * Equal embedded files are stored once. A different one with the same device
 * and inode gets another device.
 */
static void
test_carried(void **state)
{
	static const char maps[] =
	    "00400000-00401000 r-xp 00000000 08:01 5       /lib/x.so\n"
	    "00500000-00501000 r-xp 00001000 08:01 6       /lib/x.so\n"
	    "00600000-00601000 rw-p 00000000 00:00 0 \n";
	static const char smaps[] =
	    "00500000-00501000 r-xp 00001000 %s:%s 6       /lib/x.so\n"
	    "Size:                  4 kB\nVmFlags: rd ex mr mw me dd \n";
	char old[200], new[200];
	struct memsource *m[2];
	struct vmas l = { 0 };
	struct snap *s[2];
	struct rng r;
	uint8_t x[KB];
	size_t i;

	(void)state;
	snprintf(old, sizeof old, smaps, "08", "01");
	snprintf(new, sizeof new, smaps, "fff", "00");
	rng_init(&r, "carried", 1);
	for (i = 0; i < 2; i++) {
		s[i] = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
		m[i] = memsource_new(s[i], 16, KB);
	}
	rng_bytes(&r, m[0]->data, 16 * KB);
	memcpy(m[1]->data, m[0]->data, 16 * KB);
	for (i = 0; i < 2; i++) {
		proc_begin(s[i], 7, "maps", maps, "smaps", old, NULL);
		carry(s[i], m[i], 5, 0);
		carry(s[i], m[i], 6, i == 0 ? 0 : 8);
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	snap_free(s[1]);
	assert_int_equal(s[0]->nproc, 5);
	assert_int_equal(s[0]->proc[1]->pid, 8);
	assert_record(s[0], 7, "maps", maps);
	assert_record(s[0], 8, "maps",
	    "00400000-00401000 r-xp 00000000 08:01 5       /lib/x.so\n"
	    "00500000-00501000 r-xp 00001000 fff:00 6       /lib/x.so\n"
	    "00600000-00601000 rw-p 00000000 00:00 0 \n");
	assert_record(s[0], 7, "smaps", old);
	assert_record(s[0], 8, "smaps", new);
	for (i = 0; i < 2; i++) {
		assert_int_equal(proc_vmas(s[0]->proc[i], &l), 0);
		assert_int_equal(image_read(embedded_find(s[0], &l.v[1])->text,
		    0, x, KB), 0);
		assert_memory_equal(x, memsource_kb(m[0], i * 8), KB);
		assert_int_equal(image_read(embedded_find(s[0], &l.v[0])->text,
		    0, x, KB), 0);
		assert_memory_equal(x, memsource_kb(m[0], 0), KB);
		vmas_free(&l);
		memset(&l, 0, sizeof l);
	}
	snap_free(s[0]);
}

/*
 * An embedded file without text differs from one with text.
 */
static void
test_textless(void **state)
{
	struct memsource *m;
	struct snap *s[2];
	struct proc *p;
	size_t i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		for (i = 0; i < 2; i++) {
			s[i] = snap_begin("process snapshot 1 x@here amd64 0 "
			    "\"\"");
			m = memsource_new(s[i], 16, KB);
			proc_begin(s[i], 7, "maps", "00400000-00401000 r-xp "
			    "00000000 08:01 5       /lib/x.so\n", NULL);
			p = carry(s[i], m, 5, 0);
			if (i == k) {
				image_free(p->text);
				p->text = NULL;
			}
		}
		assert_int_equal(snap_merge(s[0], s[1]), 0);
		snap_free(s[1]);
		assert_record(s[0], 8, "maps", "00400000-00401000 r-xp "
		    "00000000 fff:00 5       /lib/x.so\n");
		snap_free(s[0]);
	}
}

/*
 * If devices and inodes are unknown, files are matched by path. The device of
 * an embedded file is changed in the record of an open file as well.
 */
static void
test_devices(void **state)
{
	static const char maps[] =
	    "00400000-00401000 r-xp 00000000 00:00 0       /lib/a b.so\n"
	    "00500000-00501000 r-xp 00001000 00:00 0       /lib/y.so\n"
	    "00600000-00601000 rw-p 00000000 00:00 0 \n";
	static const char file[] = "type memfd\nino 5\ndev 00:01\nrdev 00:01\n";
	struct vma v = { .name = (char *)(uintptr_t)"/lib/a b.so" };
	struct vma shm = { .dev = makedev(0, 1), .ino = 5,
	    .name = (char *)(uintptr_t)"/memfd:x (deleted)" };
	struct memsource *m;
	struct snap *s[2];
	struct proc *p;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		s[i] = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
		m = memsource_new(s[i], 4, KB);
		memset(m->data, 'a' + (int)i, 4 * KB);
		proc_begin(s[i], 7, "maps", maps, "file/0", file, NULL);
		assert_non_null(p = embedded_add(s[i], &v, &m->src, 4 * KB));
		assert_int_equal(linuxrec_pack(p, "amd64", NULL, 0), 0);
		assert_non_null(p = embedded_add(s[i], &shm, &m->src, 4 * KB));
		assert_int_equal(linuxrec_pack(p, "amd64", NULL, 0), 0);
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	assert_record(s[0], 7, "maps", maps);
	assert_record(s[0], 7, "file/0", file);
	assert_record(s[0], 8, "maps",
	    "00400000-00401000 r-xp 00000000 fff:00 0       /lib/a b.so\n"
	    "00500000-00501000 r-xp 00001000 00:00 0       /lib/y.so\n"
	    "00600000-00601000 rw-p 00000000 00:00 0 \n");
	assert_record(s[0], 8, "file/1",
	    "type memfd\nino 5\ndev fff:01\nrdev 00:01\n");
	snap_free(s[1]);
	snap_free(s[0]);
}

/*
 * A System V segment and a memfd may have the same number: each gets its own
 * device, and an open file belongs to the memfd.
 */
static void
test_sysv(void **state)
{
	static const char maps[] =
	    "00400000-00401000 rw-s 00000000 00:01 5       /SYSV0 (deleted)\n"
	    "00500000-00501000 rw-s 00000000 00:01 5       "
	    "/memfd:x (deleted)\n";
	static const char file[] = "type memfd\nino 5\ndev 00:01\n";
	static const char *const path[2] = { "/SYSV0 (deleted)",
	    "/memfd:x (deleted)" };
	struct vma v = { .dev = makedev(0, 1), .ino = 5 };
	struct memsource *m;
	struct snap *s[2];
	struct proc *p;
	size_t i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		s[i] = snap_begin("process snapshot 1 x@here amd64 0 \"\"");
		m = memsource_new(s[i], 4, KB);
		memset(m->data, 'a' + (int)i, 4 * KB);
		proc_begin(s[i], 7, "maps", maps, "file/0", file, NULL);
		for (k = 0; k < 2; k++) {
			v.name = (char *)(uintptr_t)path[k];
			p = embedded_add(s[i], &v, &m->src, 4 * KB);
			assert_non_null(p);
			assert_int_equal(linuxrec_pack(p, "amd64", NULL, 0), 0);
		}
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	assert_record(s[0], 8, "maps",
	    "00400000-00401000 rw-s 00000000 fff:00 5       /SYSV0 (deleted)\n"
	    "00500000-00501000 rw-s 00000000 fff:01 5       "
	    "/memfd:x (deleted)\n");
	assert_record(s[0], 8, "file/1", "type memfd\nino 5\ndev fff:01\n");
	snap_free(s[1]);
	snap_free(s[0]);
}

/*
 * Sources of two snapshots have equal identities for two files. After the merge
 * the identities differ.
 */
static void
test_sources(void **state)
{
	struct snap *s[2], *t;
	struct stream st[2];
	struct source *src;
	struct buf b;
	uint8_t data[2][8 * KB], x[KB];
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		s[i] = snap_begin("process snapshot");
		memset(data[i], 'a' + (int)i, sizeof data[i]);
		data[i][0] = 'x';
		stream_file(&st[i], data[i], sizeof data[i]);
		src = source_open(s[i], st[i].path);
		assert_non_null(src);
		proc_begin(s[i], 7, NULL);
		segment_add(snap_find(s[i], 7), IMAGE_MEM, 0x1000, 8 * KB,
		    src, 0);
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	snap_bytes(s[0], &b);
	t = stream_read(b.data, b.len, false);
	assert_non_null(t);
	for (i = 0; i < 2; i++) {
		assert_int_equal(image_read(snap_find(t, 7 + i)->mem, 0x1400,
		    x, KB), 0);
		assert_memory_equal(x, data[i] + KB, KB);
		stream_close(&st[i]);
		snap_free(s[i]);
	}
	snap_free(t);
	buf_free(&b);
}

/*
 * Many files embedded in both snapshots with the same devices get different
 * ones, in less than a minute.
 */
static void
test_many(void **state)
{
	enum { FILES = 60000, FIRST = 5000000 };
	struct snap *s[2];
	struct proc *p;
	char path[32];
	uint64_t i, k;

	(void)state;
	alarm((unsigned int)timeout(60));
	for (k = 0; k < 2; k++) {
		s[k] = snap_begin("process snapshot 1 a@b amd64");
		for (i = 0; i < FILES; i++) {
			p = snap_add(s[k], FIRST + i);
			snprintf(path, sizeof path, "/lib/%ju", (uintmax_t)i);
			assert_int_equal(embedded_set(p, makedev(8, 1), i + 1,
			    path), 0);
		}
	}
	assert_int_equal(snap_merge(s[0], s[1]), 0);
	assert_int_equal(s[0]->nproc, 2 * FILES);
	for (i = 0; i < FILES; i++)
		assert_int_equal(s[0]->proc[FILES + i]->embedded->dev,
		    makedev(0xfff, (unsigned int)i));
	alarm(0);
	snap_free(s[0]);
	snap_free(s[1]);
}

/*
 * There is room for more processes after some were moved to a snapshot.
 */
static void
test_moved(void **state)
{
	static const bool keep[] = { true, false, true, true, true };
	struct snap *a = snap_new(), *b = snap_new();
	uint64_t pid;
	size_t i;

	(void)state;
	for (pid = 1; pid <= 4; pid++)
		assert_non_null(snap_add(a, pid));
	for (pid = 5; pid <= 9; pid++)
		assert_non_null(snap_add(b, pid));
	assert_int_equal(snap_move(a, b, keep), 0);
	assert_int_equal(b->nproc, 0);
	for (pid = 10; pid <= 100; pid++)
		assert_non_null(snap_add(a, pid));
	assert_int_equal(a->nproc, 99);
	for (i = 0; i < a->nproc; i++) {
		pid = i + 1 + (i >= 5);
		assert_int_equal(a->proc[i]->pid, pid);
		assert_ptr_equal(snap_find(a, pid), a->proc[i]);
	}
	snap_free(a);
	snap_free(b);
}

/*
 * An early copy of memory has a number of at least EARLY_PID and no Linux
 * record.
 */
static void
test_early(void **state)
{
	struct snap *s = snap_begin("process snapshot 1 amd64");

	(void)state;
	assert_true(proc_isearly(snap_add(s, EARLY_PID)));
	assert_true(proc_isearly(snap_add(s, 7 * EARLY_PID + 5)));
	assert_false(proc_isearly(snap_add(s, EARLY_PID - 1)));
	assert_false(proc_isearly(proc_begin(s, EARLY_PID + 1, "comm", "cat\n",
	    NULL)));
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_keepmapped),
		cmocka_unit_test(test_textless),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_samenumbers),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_sysv),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
