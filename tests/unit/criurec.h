/*
 * CRIU images made from records: criurec.c writes records, criuimg.c decodes
 * the images without using the library. A test that includes this links with
 * both.
 */
#ifndef CRIUREC_H
#define CRIUREC_H

#include "criu/write/write.h"
#include "model.h"
#include "util.h"

#include <inttypes.h>
#include <limits.h>

enum { PAGE = 4096, FILES = 128 };

static const uint64_t CODE = 0x400000, DATA = 0x403000, STACK = 0x7ffe0000;

struct entry {			/* a file of a record */
	char	 name[64];
	char	*data;
	size_t	 len;
};

struct record {
	struct entry	 e[FILES];
	size_t		 n;
};

struct bytes_of {		/* an image in memory */
	uint8_t	 b[65536];
	size_t	 n;
};

struct part {			/* a message, or the rest of one */
	const uint8_t	*p;
	size_t		 n;
};

extern char dir[80];		/* output directory, below top */
extern char top[64];
extern char warned[4096];
extern const char *machine;
extern struct record rec;	/* the current record */
extern struct bytes_of image;
extern void (*on_write)(bool);	/* true before writing, false after */

/*
 * Make the current record and a snapshot with it.
 */
void		 set_bytes(const char *, const void *, size_t);
void		 set(const char *, const char *);
void		 put64(uint8_t *, uint64_t);
void		 set_regs(uint64_t, uint64_t, uint64_t);
void		 thread_record(int);
void		 process_record(int);
void		 open_record(const char *const *, size_t);
#define OPEN_RECORD(v) open_record(v, sizeof(v) / sizeof *(v))
struct snap	*begin(void);
struct proc	*finish(struct snap *, uint64_t);
struct proc	*finish_with(struct snap *, uint64_t, struct file *, size_t);

/*
 * Write images of it.
 */
void		 images_forget(void);	/* those to compare later ones with */
void		 note_warning(void *, const char *);
int		 load(struct snap *, struct criuopts *);
int		 load_one(struct criuopts *);
int		 load_cgroups(unsigned int, const char *, const char *);

/*
 * Read them.
 */
void		 image_get(const char *);
struct part	 frame(const char *, size_t);
bool		 field_find(struct part, uint64_t, size_t, uint64_t *,
		    struct part *);
uint64_t	 number(struct part, const char *);
struct part	 inner(struct part, const char *);
void		 assert_text(struct part, const char *, const char *);
size_t		 count(struct part, uint64_t);
void		 assert_numbers(struct part, const char *, const uint64_t *);

#define NUMBERS(m, ways, ...) \
	assert_numbers(m, ways, (const uint64_t[]){ __VA_ARGS__ })

int		 records_setup(void **);
int		 records_teardown(void **);

#endif
