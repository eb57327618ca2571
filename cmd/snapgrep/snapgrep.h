/*
 * What the files of snapgrep share.
 *
 *	pattern.c	what is looked for
 *	matcher.c	where it is in some bytes
 *	choose.c	which processes and mappings are looked at
 *	body.c		what of them is the same, and is searched once
 *	job.c		that is searched, by all processors
 *	walk.c		and told of each mapping, with what lies across borders
 *	report.c	lines, counts
 *	show.c, dump.c	how bytes are shown
 *	yara.c		in place of all from job.c on: rules
 */
#ifndef SNAPGREP_H
#define SNAPGREP_H

#define PCRE2_CODE_UNIT_WIDTH 8

#include "common/common.h"
#include "model.h"

#include <pcre2.h>

enum {
	LONGEST = 64 * KB,	/* bytes that a match has room for at least */
	ACROSS = 4 * KB		/* of which so many may lie before a border */
};

/*
 * pattern.c
 */
enum pattern_kind {
	PATTERN_REGEX,		/* of Perl's kind */
	PATTERN_FIXED,		/* a string */
	PATTERN_HEX,		/* bytes, as hexadecimal digits */
	PATTERN_NUMBER,
	PATTERN_POINTER,	/* into a range of addresses */
	PATTERN_YARA		/* rules: yara.c */
};

struct pattern {
	enum pattern_kind kind;
	bool		 nocase;
	bool		 word;
	bool		 utf16;	/* little-endian */
	unsigned int	 width;	/* of a number, in bytes */
	bool		 big;	/* it, or the pointers, are big-endian */
	uint64_t	 lo;	/* where pointers lead to: first */
	uint64_t	 hi;	/* and last address */
	size_t		 pointer; /* bytes of one */
	struct buf	 source; /* owned; what was given, for PCRE */
	pcre2_code	*code;	/* owned */
	void		*rules;	/* owned; of YARA */
	size_t		 before; /* bytes in front of a match that matter */
	size_t		 reach;	/* and of it, with those behind; at most */
	bool		 zeros;	/* where all is zero it may match */
};

int		 pattern_add(struct pattern *p, const char *s);
int		 pattern_pointer(struct pattern *p, const char *s);
int		 pattern_number(struct pattern *p, const char *type);
int		 pattern_finish(struct pattern *p);
void		 pattern_free(struct pattern *p);

/*
 * matcher.c
 */
struct matcher {		/* a thread's */
	const struct pattern *p; /* borrowed */
	pcre2_match_data *data;	/* owned, as all here */
	pcre2_match_context *context;
	pcre2_jit_stack	*stack;
	uint64_t	 base;	/* address of the first byte, for pointers */
	bool		 costly; /* somewhere it was given up */
};

enum match { MATCH_NONE, MATCH_FOUND, MATCH_PARTIAL };

void		 matcher_open(struct matcher *m, const struct pattern *p);
void		 matcher_close(struct matcher *m);
enum match	 matcher_next(struct matcher *m, const uint8_t *s, size_t len,
		    size_t from, bool partial, size_t *start, size_t *end);

/*
 * choose.c
 */
struct chosen {			/* of the command line */
	struct sources	 sources; /* processes */
	struct words	 name;	/* none: all */
	struct words	 perm;	/* likewise */
	uint64_t	 first;	/* addresses */
	uint64_t	 last;
};

int		 chosen_range(const char *s, uint64_t *first, uint64_t *last);
void		 chosen_mapping(struct chosen *c, char *s);
bool		 chosen_vma(const struct chosen *c, const struct vma *v);
void		 chosen_free(struct chosen *c);
void		 pointer_of(const struct snap *s, struct proc *p,
		    size_t *word, bool *big);

/*
 * body.c: what is searched
 */
struct stored {			/* bytes one after another in a source */
	struct source	*src;	/* borrowed; NULL: zeros */
	uint64_t	 loc;	/* of the kilobyte in which they begin, */
	size_t		 skip;	/* and these in front of them */
	uint64_t	 len;
	uint64_t	 at;	/* of the first, in its body */
};

struct body {			/* bytes that are searched once */
	size_t		 first;	/* of stored */
	size_t		 n;
	uint64_t	 len;
	uint64_t	 addr;	/* of its first byte, in the first process */
	size_t		 job;	/* the first */
};

/* where bytes are zero that are not searched */
#define BODY_ZERO	SIZE_MAX

struct part {			/* of a stretch: where its bytes are */
	size_t		 body;
	uint64_t	 at;	/* of the first, in the body */
	uint64_t	 from;	/* of it, in the stretch */
	uint64_t	 len;
};

struct stretch {		/* bytes of one mapping, without a gap */
	size_t		 owner;
	const struct vma *vma;	/* borrowed */
	uint64_t	 addr;
	uint64_t	 len;
	size_t		 first;	/* of parts */
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
	struct owner	*owner;	/* owned, as all arrays here */
	size_t		 nowner;
	struct stretch	*stretch;
	size_t		 nstretch;
	struct part	*part;
	size_t		 npart;
	struct body	*body;
	size_t		 nbody;
	size_t		 njob;	/* of all bodies */
	struct stored	*stored;
	size_t		 nstored;
	struct knowns	 knowns; /* owned; what of sources is in which body */
	struct stored	*fresh;	/* of the stretch that is being added */
	size_t		 nfresh;
};

int		 plan_make(struct plan *p, struct snap *s,
		    struct chosen *c, const struct pattern *pattern);
void		 plan_free(struct plan *p);
size_t		 jobs_of(const struct body *b);
const struct stored *plan_stored(const struct plan *p, size_t body,
		    uint64_t at);
bool		 stored_place(const struct stored *s, uint64_t off,
		    uint64_t *loc, size_t *skip);

/*
 * body.c's other half, known.c: where bytes were seen first
 */
struct known {
	RB_ENTRY(known)	 entry;
	const struct source *src; /* borrowed */
	uint64_t	 phase;	/* of places, modulo their pitch */
	uint64_t	 kb;	/* and divided by it */
	uint64_t	 n;
	size_t		 body;
	uint64_t	 at;
};

void		 known_add(struct knowns *t, const struct stored *s,
		    size_t body);
bool		 known_find(struct knowns *t, const struct stored *s,
		    uint64_t off, size_t *body, uint64_t *at);
uint64_t	 known_until(struct knowns *t, const struct stored *s,
		    uint64_t off);
void		 known_free(struct knowns *t);

/*
 * job.c: bodies searched by several threads
 */
enum { JOB = 1024 * KB };	/* bytes of one */

struct found {			/* in the bytes of a job */
	uint32_t	 at;
	uint32_t	 len;
};

struct search;

struct search	*search_new(const struct plan *p);
void		 search_free(struct search *s);
const struct found *search_job(struct search *s, size_t body, size_t i,
		    size_t *n);
struct matcher	*search_matcher(struct search *s);
uint64_t	 search_lost(const struct search *s, const char **why);
bool		 search_costly(const struct search *s);
void		 search_read(struct search *s, size_t body, uint64_t at,
		    uint8_t *buf, size_t len);

/*
 * walk.c: the matches of a stretch, in order; fn returns false to end
 */
typedef bool	 (*walk_fn)(void *arg, const struct stretch *st,
		    uint64_t start, uint64_t end);

void		 walk(struct search *s, const struct plan *p,
		    const struct stretch *st, walk_fn fn, void *arg);
void		 walk_read(struct search *s, const struct plan *p,
		    const struct stretch *st, uint64_t off, uint8_t *buf,
		    size_t len);

/*
 * report.c
 */
struct report {			/* what the command line asks for */
	const char	*path;	/* of the file, borrowed; NULL: not told */
	bool		 all;
	bool		 count;
	bool		 list;
	bool		 only;
	bool		 quiet;
	bool		 dump;	/* as hexdump -C */
	bool		 color;
	bool		 terminal;
	uint64_t	 most;	/* matches of a process, at most */
	size_t		 before; /* bytes around a match */
	size_t		 behind;
	const char	*label;	/* before each match, borrowed; or NULL */
	bool		 printed; /* something was; set, as this: */
	bool		 found;	/* there was a match */
};

struct others;

void		 report(struct report *r, struct search *s,
		    const struct plan *p);
void		 report_one(struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end, const struct others *o);
void		 report_process(const struct report *r, const struct owner *o,
		    uint64_t n);

/* show.c */
void		 show_prefix(const struct report *r, const struct plan *p,
		    const struct stretch *st, uint64_t off);
void		 show_match(const struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end);
void		 show_only(const struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end);

/* dump.c */
void		 dump_match(const struct report *r, struct search *s,
		    const struct plan *p, const struct stretch *st,
		    uint64_t start, uint64_t end);

/* yara.c */
int		 yara_open(struct pattern *p, const char *path);
void		 yara_close(struct pattern *p);
int		 yara_report(struct report *r, struct search *s,
		    const struct plan *p);

#endif
