/*
 * Write the small files of Plan 9's proc(3) for a process, from the facts that
 * Linux gives: segment, fd, noteid, ns, status; regs.c has the registers.
 * man6/snap.6 describes each column.
 */
#include "bisect.h"
#include "calls.h"
#include "model.h"
#include "plan9.h"
#include "state/state.h"
#include "vec.h"

/*
 * Return Plan 9's name for the machine that this program was compiled for.
 */
const char *
plan9_cputype(void)
{
	return machine_here()->name;
}

static const char *
segment_type(const struct vma *v)
{
	if (strcmp(v->name, "[stack]") == 0)
		return "Stack";
	if (v->flags & VMA_DEVICE)
		return "Phys";
	if (v->flags & VMA_SHARED)
		return "Shared";
	if (v->flags & VMA_EXEC)
		return "Text";
	return v->ino != 0 ? "Data" : "Bss";
}

/*
 * Append to b a line for each mapping of t. Debuggers read only the first line,
 * and expect it to be the stack, without flags.
 */
static void
segment_file(struct buf *b, const struct task *t)
{
	const struct vma *v;
	const char *type;
	bool stack;
	size_t i;
	int pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < t->vma.n; i++) {
			v = &t->vma.v[i];
			type = segment_type(v);
			stack = strcmp(type, "Stack") == 0;
			if (stack != (pass == 0))
				continue;
			buf_printf(b, "%-6s %c  %8" PRIx64 " %8" PRIx64
			    " %4d\n", type, stack || v->flags & VMA_WRITE ?
			    ' ' : 'R', v->start, v->end, 1);
		}
}

/*
 * Return Plan 9's device letter for path, the file that a descriptor refers to.
 */
static char
device_letter(const char *path)
{
	if (strncmp(path, "pipe:", 5) == 0)
		return '|';
	if (strncmp(path, "socket:", 7) == 0)
		return 'I';
	if (strncmp(path, "/dev/", 5) == 0)
		return 'c';
	return 'M';
}

/*
 * Append the name s to b. Replace control characters, so that the name stays on
 * one line.
 */
static void
add_name(struct buf *b, const char *s)
{
	char c;

	for (; *s != '\0'; s++) {
		c = (uint8_t)*s < ' ' ? '?' : *s;
		buf_add(b, &c, 1);
	}
}

static void
fd_file(struct buf *b, const struct task *t)
{
	static const char *const mode[] = { "r", "w", "rw", "rw" };
	const struct openfile *f;
	size_t i;

	if (t->cwd == NULL)
		return;
	add_name(b, t->cwd);
	buf_puts(b, "\n");
	for (i = 0; i < t->nopen; i++) {
		f = &t->open[i];
		buf_printf(b, "%3d %-2s %c %4u (%016" PRIx64 " 0 %s) %5u %8"
		    PRIu64 " ", f->fd, mode[f->flags & ACCESS_MODE],
		    device_letter(f->path), (unsigned int)(f->dev & 0xffff),
		    f->ino, S_ISDIR(f->mode) ? "80" : "00", f->blksize, f->pos);
		add_name(b, f->path);
		buf_puts(b, "\n");
	}
}

/*
 * Undo the escapes of a mountinfo file in name, and append the result to b. Put
 * it in Plan 9's quotes if it needs them.
 */
static void
add_quoted(struct buf *b, struct scan name)
{
	char *copy, *s;

	copy = s = mem_dup(name.s, (size_t)(name.end - name.s));
	if (s == NULL) {
		b->failed = true;
		return;
	}
	text_unescape(s);
	if (*s != '\0' && strpbrk(s, " \t\n'") == NULL)
		add_name(b, s);
	else {
		buf_puts(b, "'");
		for (; *s != '\0'; s++) {
			if (*s == '\'')
				buf_puts(b, "'");
			add_name(b, (char[]){ *s, '\0' });
		}
		buf_puts(b, "'");
	}
	free(copy);
}

CMP(mount_cmp, struct mountinfo, id)

/*
 * Append a line "mount FLAGS SOURCE POINT [ROOT]" for each mount, then a line
 * "cd DIRECTORY".
 */
static void
ns_file(struct buf *b, const struct task *t)
{
	struct scan text = scan_begin(t->mounts.data, t->mounts.len);
	struct mountinfo one, *m = NULL;
	size_t i, n = 0;

	if (t->mounts.len == 0 || t->cwd == NULL)
		return;
	while (mountinfo_next(&text, &one))
		b->failed |= VEC_ADD(m, n, one) == -1;
	SORT(m, n, mount_cmp);
	for (i = 0; i < n; i++) {
		buf_printf(b, "mount %s ",
		    strncmp(m[i].flags.s, "rw", 2) == 0 ? "-c" : "");
		add_quoted(b, m[i].source);
		buf_puts(b, " ");
		add_quoted(b, m[i].point);
		if (!scan_is(&m[i].root, "/")) {
			buf_puts(b, " ");
			add_quoted(b, m[i].root);
		}
		buf_puts(b, "\n");
	}
	buf_puts(b, "cd ");
	add_quoted(b, scan_begin(t->cwd, strlen(t->cwd)));
	buf_puts(b, "\n");
	free(m);
}

static const char *
state_word(char state)
{
	switch (state) {
	case 'R':
		return "Running";
	case 'T':
	case 't':
		return "Stopped";
	case 'Z':
		return "Moribund";
	case 'X':
		return "Dead";
	default:
		return "Wakeme";
	}
}

/*
 * Append s, a word of a status file, padded to width bytes. Programs split the
 * file at blanks, so blanks in s are replaced. A long word is cut, but not
 * within a UTF-8 character.
 */
static void
status_word(struct buf *b, const char *s, int width)
{
	char word[32];
	int i, n;

	for (n = 0; n < width && s[n] != '\0'; n++)
		word[n] = (uint8_t)s[n] <= ' ' ? '_' : s[n];
	if (s[n] != '\0')
		for (i = n; n > 0 && ((uint8_t)s[i] & 0xc0) == 0x80; i--)
			n = i - 1;
	if (n == 0)
		word[n++] = '_';
	buf_printf(b, "%-*.*s ", width, n, word);
}

static void
status_file(struct buf *b, const struct task *t)
{
	static const uint64_t most = 99999999999;
	uint64_t num[9], pri;
	int i;

	pri = (uint64_t)(10 - t->nice / 2);
	num[0] = t->utime;
	num[1] = t->stime;
	num[2] = t->age;
	num[3] = t->cutime;
	num[4] = t->cstime;
	num[5] = 0;
	num[6] = t->memkb;
	num[7] = pri;
	num[8] = pri;
	status_word(b, t->comm, 27);
	status_word(b, t->user, 27);
	status_word(b, state_word(t->state), 11);
	for (i = 0; i < 9; i++)
		buf_printf(b, "%11" PRIu64 "%c", num[i] < most ? num[i] : most,
		    i == 8 ? '\n' : ' ');
}

static void
noteid_file(struct buf *b, const struct task *t)
{
	buf_printf(b, "%11d ", t->pgrp);
}

/*
 * Make small files of Plan 9's proc(3) from task t, and add them to process p.
 * Keep the other files of p. cputype is Plan 9's name for the machine of the
 * registers. If Plan 9 does not support that machine, make no register files.
 * Return 0, or -1 with errstr set.
 */
int
plan9_files(struct proc *p, const char *cputype, const struct task *t)
{
	static const struct {
		const char	*name;
		void		(*make)(struct buf *, const struct task *);
		int		(*regs)(struct buf *, const char *,
				    const struct task *);
	} files[] = {
		{ "segment", segment_file, NULL },
		{ "fd", fd_file, NULL },
		{ "fpregs", NULL, plan9_fpregs },
		{ "noteid", noteid_file, NULL },
		{ "ns", ns_file, NULL },
		{ "regs", NULL, plan9_regs },
		{ "status", status_file, NULL },
	};
	struct buf b;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		memset(&b, 0, sizeof b);
		if (files[i].regs != NULL)
			(void)files[i].regs(&b, cputype, t);
		else
			files[i].make(&b, t);
		if (buf_check(&b) == -1) {
			buf_free(&b);
			return -1;
		}
		if (b.len == 0)
			buf_free(&b);
		else if (proc_setfile(p, files[i].name, b.data, b.len) == -1)
			return -1;
	}
	return 0;
}
