/*
 * The proxy: a process of ours that does in our place what may never come
 * back.  proxy.c is our side, ask.c what it is asked, main.c the process.
 */
#ifndef PROXY_H
#define PROXY_H

#include "io/io.h"
#include "machine.h"
#include "snap.h"

#include <sys/stat.h>

#include <linux/openat2.h>

#include <limits.h>

/*
 * What is asked, in one message, with or without a descriptor; and the
 * answer, in one message or, where a file of /proc is read, in as many as it
 * takes, of which the last has no bytes.
 */
enum proxy_what {
	PROXY_PROC,	/* read a file of /proc: name */
	PROXY_WALK,	/* look up name below a directory, the descriptor:
			   what comes is a descriptor with O_PATH */
	PROXY_STEP,	/* the same of one name, no link and no mount */
	PROXY_OPEN,	/* open a file, which the descriptor leads to */
	PROXY_READ,	/* read it */
	PROXY_PAGES,	/* read the memory of a process, the descriptor */
	PROXY_FILE	/* the same, where it is that of a mapped file */
};

/* how a name is looked up that must be no link and no mount: openat2(2) */
#define PROXY_PLAIN	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | \
			    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

enum { PROXY_MOST = 64 * 1024 };	/* bytes of an answer */
_Static_assert(PROXY_MOST % MACHINE_PAGE_MOST == 0, "pages fit into answers");

struct proxy_ask {
	enum proxy_what	 what;
	pid_t		 pid;
	uint64_t	 file;	/* its number, never used for another */
	uint64_t	 at;
	uint64_t	 len;
	char		 name[PATH_MAX];
};

struct proxy_answer {
	int		 error;	/* an errno; 0: none */
	bool		 elf;	/* it begins as an ELF file */
	int		 unread; /* an errno: whether it does is not known */
	long		 type;	/* of its file system: statfs(2) */
	struct stat	 st;
};

enum proxy_kind { KEY_DEVICE, KEY_PROC, KEY_WALK, KEY_MEMORY };

struct proxy_key {		/* who is asked */
	enum proxy_kind	 kind;
	uint64_t	 id;	/* of the device or the process */
	const char	*what;	/* borrowed; for the user */
};

/* missed.c: who did not answer */
bool		 missed_has(const struct proxy_key *k);
size_t		 missed_count(void);
void		 missed_forget(void);
int		 proxy_miss(const struct proxy_key *k);
bool		 proxy_missed(size_t n, char *what, size_t size);

/* main.c */
void		 proxy_main(int sock) __attribute__((noreturn));

enum { PROXY_LANES = 8 };	/* proxies at once */

/* proxy.c */
void		 proxy_allow(unsigned int seconds);
bool		 proxy_ison(void);
void		 proxy_hold(bool held);
void		 proxy_hurry(bool first);
void		 proxy_ready(void);
void		 proxy_forked(void);
void		 proxy_end(void);
bool		 proxy_isours(pid_t pid);
void		 proxy_enter(size_t lane);
void		 proxy_leave(void);
void		 proxy_lock(void);
void		 proxy_unlock(void);
void		 proxy_abandon(void);
int		 proxy_ask(const struct proxy_key *k,
		    const struct proxy_ask *q, int fd, uint64_t *allowed);
bool		 proxy_await(uint64_t *allowed);
ssize_t		 proxy_receive(struct proxy_answer *a, void *buf, size_t len,
		    int *fd);

/* ask.c */
int		 proxy_proc(pid_t pid, const char *path, struct bulk *out);
int		 proxy_walk(int root, const char *path);
int		 proxy_step(int dir, const char *name);
int		 proxy_open(int at, uint64_t number, uint64_t dev,
		    const char *name, struct proxy_answer *a);
ssize_t		 proxy_read(int at, uint64_t number, uint64_t dev,
		    const char *name, void *buf, size_t len, uint64_t off);
size_t		 proxy_fits(size_t len, uint64_t addr, uint64_t page);
ssize_t		 proxy_memory(int mem, pid_t pid, bool file, void *buf,
		    size_t len, uint64_t addr);

#endif
