/*
 * The Linux record, a small archive of named files that is stored as the proc
 * record of a process: the functions for rooms above this one. library.h has
 * the functions for programs.
 */
#ifndef RECORD_H
#define RECORD_H

#include "model.h"
#include "pool.h"
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
 * Files of the record that concern the model: pack.c writes them, apply.c reads
 * them
 */
#define MEM_MISSING	"missing"
#define TEXT_MISSING	"missing-text"
#define CARRY		"carried"

int		 linuxrec_update(struct proc *p);
void		 embedded_put(struct buf *b, const struct embedded *c);
int		 linuxrec_apply(struct proc *p);
bool		 linuxrec_applies(const char *name);

/*
 * Editing the files of a record: edit.c
 */
enum {				/* results of a recedit_fn; -1 is an error */
	EDIT_KEEP,
	EDIT_CHANGE, /* replace the file's contents with those in "data" */
	EDIT_DROP
};

enum { RECNAME = 256 }; /* size of the buffer for the name of an edited file */

/*
 * Callback that is called with a file f and its name, which has room for
 * RECNAME bytes. It returns EDIT_KEEP, EDIT_CHANGE or EDIT_DROP. For
 * EDIT_CHANGE it puts the new contents into data, and may put a new name into
 * name.
 */
typedef int	 (*recedit_fn)(void *arg, const struct recfile *f, char *name,
		    struct buf *data);

int		 linuxrec_copy(struct buf *b, const struct file *rec,
		    struct linuxrec *r, recedit_fn edit, void *arg);
int		 linuxrec_edit(struct proc *p, const char *cputype,
		    recedit_fn edit, void *arg, const struct file *more,
		    size_t n);

/*
 * Make the files that /proc would have from the data of another format, so that
 * its processes look as if they were captured live: make.c
 */
void		 record_state(struct filelist *r, const struct proc *p,
		    const struct task *t, struct taskstate *st);
void		 record_maps(struct filelist *r, const struct vmas *l);
int		 record_pack(struct filelist *r, struct proc *p,
		    const struct taskstate *st, struct task *t);

/*
 * Files that are lines of words, snap-linux(6): words.c
 */
enum { WORDS_MAX = 16, WORDS_NAME = 64 };

struct words {			/* a file that is read line by line */
	struct pool	*pool;	/* borrowed; owns the text */
	uint64_t	 pid;	/* process ID, for messages */
	char		 name[WORDS_NAME];
	char		*next;	/* next line; NULL: the file is missing */
	size_t		 line;	/* number of the current line */
	char		*rest;	/* the current line after its first blank, or
				   "" */
	char		*word[WORDS_MAX]; /* words of the current line */
	size_t		 n;
};

int		 words_open(struct words *, struct pool *,
		    const struct linuxrec *, uint64_t, const char *);
int		 words_next(struct words *);
int		 words_key(struct words *);
int		 words_split(struct words *, char *);
bool		 words_form(const struct words *, size_t, const char *,
		    uint64_t *);
int		 words_bytes(const struct words *, const char *, uint8_t **,
		    size_t *);
int		 words_bad(const struct words *, const char *);
int		 words_one(const struct linuxrec *, uint64_t, const char *,
		    const char *, const char *, uint64_t *);
char		*words_text(struct pool *, const struct linuxrec *,
		    const char *);
int		 proc_part(const struct proc *, uint64_t *);
bool		 number_parse(const char *, char, uint64_t *);

/*
 * State of a process or thread from its record, in a typed structure: state.c
 */
extern const char *const regset_file[REGSET_MAX]; /* names of register files
						     in a record */

const struct taskstate *state_get(struct proc *p);
int		 state_give(struct proc *p, const struct taskstate *st);
uint64_t	 snap_page(struct snap *s, struct proc *p);

#endif
