/*
 * Declarations shared by the files of snapgrep.
 *
 *	pattern.c	compile the pattern
 *	matcher.c	search a buffer for it
 *	choose.c	select processes and mappings
 *	plan.c		plan the search so that equal bytes are searched once
 *	job.c		search the planned parts with all processors
 *	walk.c		find the matches of each mapping, also across borders
 *	report.c	print lines and counts
 *	show.c, dump.c	print bytes
 *	yara.c		match YARA rules, in place of job.c and what follows
 */
#ifndef SNAPGREP_H
#define SNAPGREP_H

#define PCRE2_CODE_UNIT_WIDTH 8

#include "common/common.h"
#include "model.h"

#include <pcre2.h>

enum {
	LONGEST = 64 * KB,	/* maximum length of matches found, in bytes */
	ACROSS = 4 * KB		/* a match that crosses into the next part
				   begins at most this many bytes before the
				   border */
};

/*
 * pattern.c: compile patterns
 */
enum pattern_kind {
	PATTERN_REGEX,		/* Perl-compatible regular expression */
	PATTERN_FIXED,		/* literal string */
	PATTERN_HEX,		/* bytes, given in hexadecimal */
	PATTERN_NUMBER,
	PATTERN_POINTER,	/* pointer into a range of addresses */
	PATTERN_YARA		/* YARA rules; see yara.c */
};

struct pattern {
	enum pattern_kind kind;
	bool		 nocase;
	bool		 word;
	bool		 utf16;	/* search for strings in little-endian UTF-16 */
	unsigned int	 width;	/* width of a number in bytes */
	bool		 big;	/* numbers or pointers are big-endian */
	uint64_t	 lo;	/* lowest address that a matching pointer may
				   hold */
	uint64_t	 hi;	/* highest address that a matching pointer may
				   hold */
	size_t		 pointer; /* size of a pointer in bytes */
	struct buf	 source; /* owned; expression for PCRE2 */
	pcre2_code	*code;	/* owned */
	void		*rules;	/* owned; YARA rules */
	size_t		 before; /* maximum number of bytes before a match on
				    which it can depend (look-behind) */
	size_t		 reach;	/* maximum length of a match, in bytes,
				   including look-ahead */
	bool		 zeros;	/* the pattern may match in zeros */
};

int		 pattern_add(struct pattern *p, const char *s);
int		 pattern_pointer(struct pattern *p, const char *s);
int		 pattern_number(struct pattern *p, const char *type);
int		 pattern_finish(struct pattern *p);

/*
 * matcher.c: search a buffer
 */
struct matcher {		/* state of a thread that searches */
	const struct pattern *p; /* borrowed */
	pcre2_match_data *data;	/* owned */
	pcre2_match_context *context;
	pcre2_jit_stack	*stack;
	uint64_t	 base;	/* address of the first byte of the buffer,
				   to align pointers */
	bool		 costly; /* PCRE2 reached its step limit */
};

enum match { MATCH_NONE, MATCH_FOUND, MATCH_PARTIAL };

void		 matcher_open(struct matcher *m, const struct pattern *p);
void		 matcher_close(struct matcher *m);
enum match	 matcher_next(struct matcher *m, const uint8_t *s, size_t len,
		    size_t off, size_t limit, bool partial, size_t *start,
		    size_t *end);

/*
 * choose.c: select processes and mappings
 */
struct chosen {			/* processes and memory to search */
	struct sources	 sources; /* processes to search */
	struct words	 name;	/* names of mappings to search; none: all */
	struct words	 perm;	/* permissions of mappings to search; none:
				   all */
	uint64_t	 first;	/* first address to search */
	uint64_t	 last;
};

int		 chosen_range(const char *s, uint64_t *first, uint64_t *last);
void		 chosen_mapping(struct chosen *c, char *s);
bool		 chosen_vma(const struct chosen *c, const struct vma *v);
void		 pointer_of(const struct snap *s, struct proc *p,
		    size_t *word, bool *big);

/*
 * plan.c: plan the search
 */
struct stored {			/* bytes stored contiguously in a source */
	struct source	*src;	/* borrowed; NULL: zeros */
	uint64_t	 loc;	/* location, in the source, of the kilobyte that
				   contains the first byte */
	size_t		 skip;	/* offset of the first byte in its kilobyte */
	uint64_t	 len;
	uint64_t	 at;	/* offset, in the stretch, of the first byte */
};

/* a part of zeros that is not searched */
#define PART_ZERO	SIZE_MAX

struct part {			/* part of a stretch */
	size_t		 stretch;
	size_t		 same;	/* index of the searched part that contains the
				   bytes of this one (perhaps this part itself),
				   or PART_ZERO */
	uint64_t	 at;	/* offset of these bytes in that part */
	uint64_t	 from;	/* offset of the part in the stretch */
	uint64_t	 len;
	size_t		 job;	/* index of the first job of this part, if it is
				   searched */
};

struct stretch {		/* contiguous bytes of one mapping */
	size_t		 owner;
	const struct vma *vma;	/* borrowed */
	uint64_t	 addr;
	uint64_t	 len;
	size_t		 stored; /* index, in plan.stored, of its first
				    element */
	size_t		 nstored;
	size_t		 first;	/* index, in plan.part, of its first part */
	size_t		 n;
};

struct owner {
	struct proc	*proc;	/* borrowed */
	struct vmas	 vmas;	/* owned */
};

struct known;
RB_HEAD(knowns, known);

struct plan {
	struct snap	*snap;	/* borrowed */
	const struct pattern *pattern; /* borrowed */
	struct owner	*owner;	/* owned, as are the arrays below */
	size_t		 nowner;
	struct stretch	*stretch;
	size_t		 nstretch;
	struct part	*part;
	size_t		 npart;
	size_t		 njob;	/* total number of jobs, over all parts */
	struct stored	*stored;
	size_t		 nstored;
	struct knowns	 knowns; /* owned; which bytes of a source are in which
				    part */
};

int		 plan_make(struct plan *p, struct snap *s,
		    struct chosen *c, const struct pattern *pattern);
void		 plan_free(struct plan *p);
const struct stored *plan_stored(const struct plan *p,
		    const struct stretch *st, uint64_t off);
bool		 stored_place(const struct stored *s, uint64_t off,
		    uint64_t *loc, size_t *skip);

/*
 * known.c: where bytes were first seen
 */
struct known {
	RB_ENTRY(known)	 entry;
	const struct source *src; /* borrowed */
	uint64_t	 phase;	/* location in the source, modulo its pitch */
	uint64_t	 kb; /* location in the source, divided by its pitch */
	uint64_t	 n;
	size_t		 part;
	uint64_t	 at;
};

void		 known_add(struct knowns *t, const struct stored *s,
		    uint64_t off, uint64_t len, size_t part, uint64_t at);
bool		 known_find(struct knowns *t, const struct stored *s,
		    uint64_t off, size_t *part, uint64_t *at);
uint64_t	 known_until(struct knowns *t, const struct stored *s,
		    uint64_t off);
void		 known_free(struct knowns *t);

/*
 * job.c: search parts with several threads
 */
enum { JOB = 1024 * KB };	/* size of a job in bytes */

struct found {			/* a match in a job */
	uint32_t	 at;
	uint32_t	 len;
};

struct search;

struct worker {			/* state of a thread */
	struct matcher	 m;	/* owned */
	uint8_t		*buf;	/* owned; buffer of "cap" bytes */
	size_t		 cap;
};

/* called with a match; returns false to stop */
typedef bool	 (*walk_fn)(void *arg, const struct stretch *st,
		    uint64_t start, uint64_t end);

struct walking {
	struct search	*s;	/* borrowed, as are all members */
	const struct plan *p;
	const struct stretch *st;
	struct worker	*w;
	walk_fn		 fn;
	void		*arg;
	uint64_t	 x;	/* matches that begin before this offset were
				   passed to fn */
	bool		 stop;	/* fn has returned false */
};

struct search	*search_new(const struct plan *p);
void		 search_free(struct search *s);
const struct found *search_job(struct search *s, const struct part *pt,
		    size_t i, size_t *n);
struct worker	*search_worker(struct search *s);
void		 search_warn(const struct search *s);
void		 search_read(struct search *s, const struct stretch *st,
		    uint64_t off, uint8_t *buf, size_t len);
void		 search_pass(struct walking *w, uint64_t start, uint64_t end);
void		 search_here(struct walking *w, uint64_t limit);

/*
 * walk.c: find the matches of a stretch in order
 */
void		 walk(struct search *s, const struct plan *p,
		    const struct stretch *st, walk_fn fn, void *arg);

/*
 * report.c: print matches
 */
struct report {			/* command-line options */
	const char	*path;	/* borrowed; name of the file; NULL: not
				   printed */
	bool		 all;
	bool		 count;
	bool		 list;
	bool		 only;
	bool		 quiet;
	bool		 dump;	/* print context in the form of hexdump -C */
	bool		 color;
	bool		 terminal;
	uint64_t	 most;	/* maximum number of matches for each process */
	size_t		 before; /* number of bytes of context before a match */
	size_t		 behind;
	const char	*label;	/* borrowed; printed before each match, or
				   NULL */
	bool		 printed; /* set by report_one(): a match was printed */
	bool		 found;	/* set if there was a match */
};

struct others;

void		 report(struct report *r, struct search *s,
		    const struct plan *p);
void		 report_one(struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end, const struct others *o);
void		 report_process(const struct report *r, const struct owner *o,
		    uint64_t n);

/* show.c: print a match in a line */
void		 show_prefix(const struct report *r, const struct plan *p,
		    const struct stretch *st, uint64_t off);
void		 show_match(const struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end);
void		 show_only(const struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end);

/* dump.c: print a match as hexdump -C */
void		 dump_match(const struct report *r, struct search *s,
		    const struct stretch *st, uint64_t start, uint64_t end);

/* yara.c: match YARA rules */
int		 yara_open(struct pattern *p, const char *path);
int		 yara_report(struct report *r, struct search *s,
		    const struct plan *p);

#endif
