/*
 * Any bytes as the records of processes captured by snap(1): either no images
 * are made, or they are written to their directory only. If the whole snapshot
 * can be restored, the images can be read as a set of processes.
 *
 * An input consists of items: one byte that selects a name below; if the name
 * ends with a slash, one byte with the number that follows it; two bytes with a
 * length, and that number of bytes. NEXT begins another process and has nothing
 * else. PAGES has eight bytes with an address and a byte with the number of
 * pages there.
 */
#include "fuzz_snap.h"
#include "model.h"

#include <sys/stat.h>

#include <dirent.h>
#include <limits.h>

enum { PAGE = 4096, ITEMS = 512, READBACK = 4 << 20, NEXT = 255, PAGES = 254 };

static const char *const name[] = { "stat", "status", "comm", "personality",
    "regset/prstatus", "regset/fpregs", "regset/xstate", "siginfo", "sigmask",
    "sigpending/thread", "sigpending/process", "limits", "oom_score_adj",
    "maps", "smaps", "auxv", "exe", "cwd", "root", "ns/user", "ns/pid",
    "thread", "scheduling", "robust_list", "rseq", "sigaltstack",
    "tid_address", "pdeath_signal", "securebits", "sigaction", "itimers",
    "posix_timers", "brk", "dumpable", "child_subreaper", "thp_disable",
    "membarrier", "clocks", "shares", "observed", "files", "pages", "missing",
    "carried", "size", "loginuid", "file/", "fdinfo/", "pipe/", "socket/",
    /* append only: the corpus contains their numbers */
    "seccomp-filters", "cwd-deleted", "cgroup", "cgroups/directories",
    "cgroups/roots", "ns/cgroup", "namespaces", "hostname", "domainname",
    "ns/net", "ns/ipc", "ns/uts", "ns/mnt", "uid_map", "gid_map", "nspid",
    "nsppid", "net/links", "net/addresses", "net/routes", "net/routes6",
    "net/rules", "net/neighbours", "net/queueing", "net/peers", "net/settings",
    "net/nft", "net/iptables", "net/why", "netlock", "stream/", "mqueues",
    "sysvipc/sem", "sysvipc/semaphores/", "sysvipc/msg", "sysvipc/messages/",
    "sysvipc/detached", "sysvipc/shm", "sysvipc/limits", "sysvipc/why",
    "mounts/inside", "mounts/outside", "mounts/tmpfs/0:1", "mounts/why",
    "keyring/process", "keyring/session", "apart", "seccomp/", "root-deleted",
    "mounts/maps", "mounts/hidden" };

enum { NAMES = sizeof name / sizeof *name };

/*
 * Return true if a number follows the name.
 */
static bool
is_numbered(size_t what)
{
	return name[what][strlen(name[what]) - 1] == '/';
}

#ifdef LIBFUZZER
#include "fuzz_mutate.h"

/*
 * Return the offset of the end of the item at *at, and set *at to the start of
 * its content.
 */
static size_t
item_end(const uint8_t *p, size_t n, size_t *at)
{
	uint8_t what = p[*at];
	size_t len;

	if (what == NEXT || what == PAGES)
		return *at += what == NEXT ? 1 : 10;
	*at += is_numbered(what % NAMES) ? 4 : 3;
	if (*at > n)
		return *at;
	len = p[*at - 2] | (size_t)p[*at - 1] << 8;
	return *at + len;
}

/*
 * Change the content of an item.
 */
size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t at = 0, end, k, len, got, room;
	uint8_t *s;

	mutate_seed(seed);
	for (end = k = 0; end < n && k < ITEMS; k++)
		end = item_end(p, n, &end);
	if (k == 0 || mutate_pick(8) == 0)
		return LLVMFuzzerMutate(p, n, max);
	for (end = 0, k = mutate_pick(k) + 1; k > 0; k--) {
		at = end;
		end = item_end(p, n, &at);
	}
	if (at >= end || end > n)
		return LLVMFuzzerMutate(p, n, max);
	len = end - at;
	room = len + 256 < 0xffff ? len + 256 : 0xffff;
	if (n - len + room > max || (s = malloc(room)) == NULL)
		return n;
	memcpy(s, p + at, len);
	got = mutate_pick(4) == 0 ? mutate_binary(s, len, room) :
	    mutate_text(s, len, room);
	n = mutate_put(p, n, max, at, end, s, got);
	num_put(p + at - 2, got, 2);
	free(s);
	return n;
}
#endif

static char out[64];

struct reading {
	const uint8_t	*p;
	size_t		 n;
	struct snap	*s;
	struct file	 file[ITEMS];
	size_t		 nfile;
	uint64_t	 page;	/* address of the memory */
	uint64_t	 npage;
};

static void
out_clear(void)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if ((d = opendir(out)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", out, e->d_name);
		(void)unlink(path);
	}
	closedir(d);
	(void)rmdir(out);
}

/*
 * Return the total size of the files in the output directory.
 */
static uint64_t
out_size(void)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct stat st;
	uint64_t n;
	DIR *d;

	n = 0;
	MUST((d = opendir(out)) != NULL);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", out, e->d_name);
		MUST(lstat(path, &st) == 0);
		if (S_ISREG(st.st_mode) && n < READBACK)
			n += (uint64_t)st.st_size;
	}
	closedir(d);
	return n;
}

static void
files_free(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->nfile; i++)
		free(r->file[i].name);
	r->nfile = 0;
}

/*
 * Make a process of the collected items.
 */
static void
process_add(struct reading *r)
{
	struct segment *seg;
	struct proc *p;

	MUST((p = snap_add(r->s, r->s->nproc + 7)) != NULL);
	if (r->npage > 0) {
		seg = segment_new(r->page, r->npage * PAGE);
		MUST(seg != NULL && segment_append(seg, r->npage * PAGE / KB,
		    NULL, 0) == 0);
		MUST((p->mem = image_new(p, IMAGE_MEM)) != NULL);
		MUST(image_insert(p->mem, seg) == 0);
		r->npage = 0;
	}
	MUST(linuxrec_pack(p, "amd64", r->file, r->nfile) == 0);
	files_free(r);
}

/*
 * Add a file to the record, unless it has one with the same name.
 */
static void
item_add(struct reading *r, const char *s, const uint8_t *data, size_t len)
{
	struct file *f = &r->file[r->nfile];
	size_t i;

	for (i = 0; i < r->nfile; i++)
		if (strcmp(r->file[i].name, s) == 0)
			return;
	if (r->nfile == ITEMS)
		return;
	memset(f, 0, sizeof *f);
	MUST((f->name = strdup(s)) != NULL);
	f->data = (uint8_t *)(uintptr_t)data;
	f->len = len;
	r->nfile++;
}

/*
 * Return the next *n bytes of the input. If there are fewer, reduce *n.
 */
static const uint8_t *
take(struct reading *r, size_t *n)
{
	const uint8_t *p = r->p;

	if (*n > r->n)
		*n = r->n;
	r->p += *n;
	r->n -= *n;
	return p;
}

static uint64_t
number(struct reading *r, size_t n)
{
	const uint8_t *p = take(r, &n);
	uint64_t v;

	for (v = 0; n > 0; n--)
		v = v << 8 | p[n - 1];
	return v;
}

static void
item(struct reading *r)
{
	const uint8_t *data;
	char s[64];
	size_t what, len;

	what = (size_t)number(r, 1);
	if (what == NEXT) {
		process_add(r);
		return;
	}
	if (what == PAGES) {
		r->page = number(r, 8) / PAGE * PAGE;
		r->npage = number(r, 1);
		if (r->page > UINT64_MAX - r->npage * PAGE)
			r->npage = 0;
		return;
	}
	what %= NAMES;
	snprintf(s, sizeof s, "%s", name[what]);
	if (is_numbered(what))
		snprintf(s, sizeof s, "%s%u", name[what],
		    (unsigned int)number(r, 1));
	len = (size_t)number(r, 2);
	data = take(r, &len);
	item_add(r, s, data, len);
}

static struct snap *
snap_make(const uint8_t *data, size_t n)
{
	static struct reading r;

	memset(&r, 0, sizeof r);
	r.p = data;
	r.n = n;
	MUST((r.s = snap_new()) != NULL);
	MUST((r.s->header = strdup("process snapshot 1 a@b amd64 1 \"Linux "
	    "6\"")) != NULL);
	while (r.n > 0)
		item(&r);
	if (r.nfile > 0)
		process_add(&r);
	return r.s;
}

static void
ignore(void *arg, const char *text)
{
	(void)arg;
	MUST(*text != '\0');
}

static void
images_check(void)
{
	static const struct readopts opts = { .warn = ignore };
	struct snap *s;

	if (out_size() >= READBACK)
		return;
	if ((s = snap_load(out, &opts)) == NULL)
		MUST(*snap_errstr() != '\0');
	else
		check_snap(s);
	snap_free(s);
}

/*
 * Make images of the stream at fd.
 */
static void
images_make(int fd, struct criuopts *o)
{
	struct criustat st = { 0 };
	char path[64];
	struct snap *s;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if ((s = snap_load(path, NULL)) == NULL) {
		MUST(*snap_errstr() != '\0');
		return;
	}
	if (criu_write(s, out, o, &st) == 0)
		images_check();
	else {
		MUST(*snap_errstr() != '\0');
		MUST(access(out, F_OK) == -1);
	}
	snap_free(s);
	out_clear();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct criuopts o = { .warn = ignore };
	struct snap *s;
	int fd;

	if (*out == '\0') {
		snprintf(out, sizeof out, "%s/fuzz_native.%d",
		    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
		    (int)getpid());
		atexit(out_clear);
	}
	out_clear();
	s = snap_make(data, n);
	fd = write_back(s);
	snap_free(s);
	images_make(fd, &o);
	o.overwrite = true;
	o.leave = UINT64_MAX;
	images_make(fd, &o);
	o.root = 7;
	o.cgroups = CGROUPS_SOFT;
	images_make(fd, &o);
	close(fd);
	return 0;
}
