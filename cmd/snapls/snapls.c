/*
 * snapls: list the contents of snapshots; with -c, read and check all of them.
 */
#include "snapls.h"

#include <err.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct sources sources;
static struct listing listing = { .sources = &sources };
static bool headed; /* list_record() printed the heading for this file */

/*
 * files of processes and records that the one-line listing needs
 */
static const char *const shown[] = { "status", "stat", "comm", "cgroup",
	"cmdline", "container", "cwd", "excluded", "exe", "nspid", "origin",
	"part", "pod", "taken", "unit", NULL };

/*
 * Return the names of the small files that a listing with options ls needs, or
 * NULL if it needs all.
 */
static const char *const *
shown_by(const struct listing *ls)
{
	return ls->segments || ls->parts || ls->table.json ? NULL : shown;
}

static void
list_record(void *arg, uint64_t pid, const char *name, uint64_t at,
    uint64_t len)
{
	const struct listing *ls = arg;
	char *s;

	if (at > 0 && !snap6_known(name))
		program_warn("process %" PRIu64 ": %s: record of unknown type, "
		    "%" PRIu64 " bytes", pid, name, len);
	if (!ls->records)
		return;
	s = must(strdup(name));
	if (at == 0) {
		headed = true;
		printf("%s\n%12s %12s %10s RECORD\n", text_sanitize(s),
		    "BYTE", "LENGTH", "PID");
	} else
		printf("%12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %s\n", at,
		    len, pid, s);
	free(s);
}

static const struct opt opts[] = {
	MOMENT_OPTION(sources),
	TABLE_OPTIONS(listing.table),
	{ 'c', "check", NULL, "read everything and report damage",
	    .flag = &listing.check },
	{ OPT_LONG, "cgroup", "group",
	    "live processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'l', "long", NULL, "also print details, open files and mappings",
	    .flag = &listing.segments },
	{ 'p', "pid", "pid|name", "only this process; without file: a live one",
	    .source = sources_pick },
	{ OPT_LONG + 1, "records", NULL, "also print each part of the file",
	    .flag = &listing.parts },
	{ 'v', "verbose", NULL, "also print the header line and all records",
	    .flag = &listing.records },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "List the contents of snapshots, one line per process.",
	.synopsis = (const char *const[]){
		"[-bclnv] [-@ moment] [--cgroup group] [--records] [-o list]",
		"       [-p pid|name] [file | pid | name ...]",
		"-j [-c] [-@ moment] [--cgroup group] [-o list] [-p pid|name]",
		"       [file | pid | name ...]",
		NULL
	},
	.opts = opts,
	.sources = &sources
};

struct damage {			/* how to report damage to a file */
	const char	*path;
	bool		 check;	/* -c: report all damage */
	char		 reported[700];	/* damage reported by the caller */
};

/*
 * With -c, print text, a description of damage, unless it equals d->reported,
 * which the caller prints. This is a warn callback; arg is d, a struct damage.
 */
static void
say(void *arg, const char *text)
{
	const struct damage *d = arg;
	const size_t len = strlen(d->path);
	char line[700];

	strlcpy(line, text, sizeof line);
	if (!d->check || strcmp(line, d->reported) == 0)
		return;
	if (strncmp(line, d->path, len) == 0 && line[len] == ':')
		program_warn("%s", line);
	else
		program_warn("%s: %s", d->path, line);
}

/*
 * Return true if path can be read twice: it is not standard input, a FIFO or a
 * device.
 */
static bool
can_reread(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/*
 * Check that the index of snapshot s matches its data, and print a warning if s
 * has no checksums. The caller must have read s from path to its end without
 * errors. Return 0, or -1 after a message.
 */
static int
check_index(const char *path, struct snap *s, const struct listing *ls)
{
	struct readopts o = { .nodata = true, .files = shown_by(ls),
	    .moments = sources.moment == NULL, MOMENT_OF(sources) };
	struct snap *t;
	int rc;

	if (s->trailer_error != NULL)
		program_warn("%s: %s; no usable checksums (use snapcat "
		    "to add new ones)", path, s->trailer_error);
	else if (!s->verified)
		program_warn("%s: no checksums", path);
	if (!s->verified)
		return s->damaged ? -1 : 0;
	if (!can_reread(path) || !s->verified_index)
		return 0;
	if ((t = snap_load(path, &o)) == NULL) {
		program_warn("%s", snap_errstr());
		return -1;
	}
	if ((rc = snap_compare(s, t)) == -1)
		program_warn("%s: index does not match the data: %s", path,
		    snap_errstr());
	snap_free(t);
	return rc;
}

/*
 * List the readable part of the damaged file at path, then print the error.
 * With -c, print all damage. s has the part of path that was read, or is NULL.
 * If path cannot be read twice, list s; otherwise read path again. Free s.
 */
static void
list_damaged(const char *path, const struct listing *ls, struct snap *s)
{
	struct listing damaged = *ls;
	struct damage d = { .path = path, .check = ls->check };
	struct readopts o = { .nodata = true, .salvage = true,
	    .files = shown_by(ls), .moments = sources.moment == NULL,
	    MOMENT_OF(sources), .warn = say, .arg = &d };

	strlcpy(d.reported, s != NULL ? s->broken : snap_errstr(),
	    sizeof d.reported);
	if (can_reread(path)) {
		snap_free(s);
		s = snap_load(path, &o);
	}
	if (s != NULL && s->nproc > 0) {
		damaged.damaged = true;
		if (!list_moments(s, path, ls))
			list_snap(s, path, &damaged);
		fflush(stdout);
	}
	program_warn("%s%s", d.reported, s != NULL && s->nproc > 0 ?
	    "; snapcat -s saves what precedes it" : "");
	snap_free(s);
}

static int
list_file(const char *path, const struct listing *ls, bool named)
{
	struct readopts o = { .nodata = true, .brief = !ls->check && !ls->parts,
	    .files = shown_by(ls), .record = list_record,
	    .scan = ls->check || ls->parts,
	    .part = ls->parts ? parts_print : NULL,
	    .partial = !can_reread(path), .moments = sources.moment == NULL,
	    .warn = program_lose, MOMENT_OF(sources),
	    .arg = (void *)(uintptr_t)ls };
	struct snap *s;
	int rc;

	headed = false;
	if (named && !ls->table.json) {
		text_put(path);
		puts(":");
	}
	if ((s = snap_load(path, &o)) == NULL || s->broken != NULL) {
		list_damaged(path, ls, s);
		return -1;
	}
	if (ls->records && !headed && s->header != NULL)
		printf("%s\n", text_sanitize(s->header));
	rc = 0;
	if (snap_uncounted(s) && snap_count(s, program_lose, NULL) == -1) {
		program_warn("%s: %s", path, snap_errstr());
		rc = -1;
	}
	if (!list_moments(s, path, ls))
		list_snap(s, path, ls);
	if (ls->check) {
		fflush(stdout);
		if (check_index(path, s, ls) == -1)
			rc = -1;
	}
	snap_free(s);
	return rc;
}

int
main(int argc, char *argv[])
{
	struct confined need = { 0 };
	size_t i;
	int rc;

	program_descriptors();
	/* SIGUSR1 asks other programs of snap for their progress */
	signal(SIGUSR1, SIG_IGN);
	argv = options_take(&cmdline, argc, argv);
	if (listing.table.json && (listing.segments || listing.records ||
	    listing.parts || listing.table.bare || listing.table.bytes))
		options_misuse(&cmdline);
	list_check(&listing);
	sources_operands(&sources, argv, SOURCES_FILES);
	sources_capture(&sources);
	need.in = sources.file.v;
	need.nin = sources.file.n;
	program_confine(&need, listing.records);
	rc = 0;
	for (i = 0; i < need.nin; i++)
		if (list_file(need.in[i], &listing, need.nin > 1) == -1)
			rc = -1;
	sources_check(&sources);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	return rc == 0 && !program_lost() ? 0 : 1;
}
