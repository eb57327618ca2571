/*
 * The Linux record, a small archive of named files that is a process's proc
 * record: what of it rooms above this one use.  snap.h has what programs do.
 */
#ifndef RECORD_H
#define RECORD_H

#include "model.h"
#include "state/state.h"

/*
 * The archive: archive.c
 */
void		 linuxrec_begin(struct buf *b, const char *cputype);
bool		 linuxrec_is(const struct file *rec);
void		 linuxrec_get(const struct linuxrec *r, size_t i,
		    struct recfile *f);
int		 path_cmp(const char *a, size_t na, const char *b, size_t nb);
void		 linuxrec_head(struct buf *b, const char *name, size_t n,
		    size_t len);
void		 linuxrec_add(struct buf *b, const char *name,
		    const void *data, size_t len);

/*
 * What a record tells of the model: pack.c writes it, apply.c reads it
 */
#define MEM_MISSING	"missing"
#define TEXT_MISSING	"missing-text"
#define CARRY		"carried"

int		 linuxrec_update(struct proc *p);
void		 carried_put(struct buf *b, const struct carried *c);
int		 linuxrec_apply(struct proc *p);
bool		 linuxrec_applies(const char *name);

/*
 * Changing the files of a record: edit.c
 */
enum {				/* what is to become of a file; -1: error */
	EDIT_KEEP,
	EDIT_CHANGE,		/* to what is in data, and of that name */
	EDIT_DROP
};

enum { RECNAME = 256 };		/* bytes of the name of a file that is edited */

/*
 * Called with a file and its name, which has room for RECNAME bytes: tell which
 * of the above, with new bytes in data and another name, if it is to have one,
 * in place of its own.
 */
typedef int	 (*recedit_fn)(void *arg, const struct recfile *f, char *name,
		    struct buf *data);

int		 linuxrec_copy(struct buf *b, const struct file *rec,
		    struct linuxrec *r, recedit_fn edit, void *arg);
int		 linuxrec_edit(struct proc *p, const char *cputype,
		    recedit_fn edit, void *arg, const struct file *more,
		    size_t n);

/*
 * Files as /proc would have them, made of what another format tells, so that
 * its processes look like those that were taken live: make.c
 */
void		 record_state(struct filelist *r, const struct proc *p,
		    const struct task *t, struct taskstate *st);
void		 record_maps(struct filelist *r, const struct vmas *l);
int		 record_pack(struct filelist *r, struct proc *p,
		    const struct taskstate *st, struct task *t);

/*
 * Files as lines of words, snap(6), "State that restoring takes": words.c
 */
enum { WORDS_MAX = 16, WORDS_NAME = 64 };

struct words {			/* a file that is read line by line */
	uint64_t	 pid;	/* whose record it is in; for messages */
	char		 name[WORDS_NAME];
	char		*text;	/* owned */
	char		*next;	/* in it, the next line; NULL: none is left */
	size_t		 line;	/* number of the one at hand */
	char		*rest;	/* in text; all behind its first blank, or "" */
	char		*word[WORDS_MAX]; /* in text */
	size_t		 n;
};

int		 words_open(struct words *, const struct linuxrec *, uint64_t,
		    const char *);
int		 words_next(struct words *);
int		 words_key(struct words *);
int		 words_split(struct words *, char *);
bool		 words_form(const struct words *, size_t, const char *,
		    uint64_t *);
int		 words_bytes(const struct words *, const char *, uint8_t **,
		    size_t *);
int		 words_bad(const struct words *, const char *);
void		 words_close(struct words *);
int		 words_one(const struct linuxrec *, uint64_t, const char *,
		    const char *, const char *, uint64_t *);
char		*words_text(const struct linuxrec *, const char *);
int		 proc_part(const struct proc *, uint64_t *);
bool		 number_parse(const char *, char, uint64_t *);

/*
 * What is known of a process or thread, typed, from its record: state.c
 */
extern const char *const regset_file[REGSET_MAX]; /* names of those files */

const struct taskstate *state_get(struct proc *p);
int		 state_give(struct proc *p, const struct taskstate *st);
uint64_t	 snap_page(struct snap *s, struct proc *p);

#endif
