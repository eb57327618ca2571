/*
 * Write CRIU images of open files, and of mapped files that have a name:
 * files.img and the images that hold the content and state of such files.
 *
 * The files of this directory; each calls only those above it:
 *
 *	ghost.c		deleted files
 *	regular.c	files with a name
 *	shm.c		shared memory
 *	queue.c		data queued in UNIX sockets
 *	sockopt.c	socket options
 *	unix.c		UNIX sockets
 *	stdio.c		standard input, output and error from outside
 *	tty.c		terminals
 *	watch.c		inotify and fanotify
 *	nsfile.c	namespaces
 *	netlink.c	netlink sockets
 *	packet.c	packet sockets
 *	tcp.c		TCP connections
 *	inet.c		IPv4 and IPv6 sockets
 *	obstacle.c	why files of other kinds cannot be restored
 *	entry.c		entries of those kinds in files.img
 *	judge.c		table of all kinds; decides which files are restored
 *	file.c		files.img, with an entry for each open file
 *	fd.c		descriptors, and locks
 */
#ifndef CRIUOPEN_H
#define CRIUOPEN_H

#include "criu/facts/facts.h"

enum {				/* values from include/net/tcp_states.h and
				   sys/socket.h */
	STATE_ESTABLISHED = 1, STATE_CLOSE = 7, STATE_LISTEN = 10,
	TYPE_STREAM = 1, TYPE_DGRAM, TYPE_RAW, SHUT_BOTH = 3
};

enum {				/* bits for the ends of a pipe */
	PIPE_READ = 1, PIPE_WRITE = 2, PIPE_BOTH = PIPE_READ | PIPE_WRITE
};

/* ghost.c */
struct makeinode {		/* inode of a deleted file */
	uint64_t	 dev;
	uint64_t	 ino;
	uint32_t	 mode;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 rdev;
	bool		 timed;	/* atime and mtime are known */
	uint64_t	 atime;	/* access time in nanoseconds */
	uint64_t	 mtime;	/* modification time in nanoseconds */
	bool		 sized;	/* size is known */
	uint64_t	 size;	/* size in bytes */
	char		*leads;	/* borrowed; target of a symbolic link */
	size_t		 pathlen; /* length of its path, if it is a directory */
};

struct proc	*makereg_content(struct criumake *, uint64_t, uint64_t);
uint64_t	 makereg_size(const struct proc *);
uint64_t	 makeghost_names(const struct proc *);
void		 makeghost_inode(struct makeinode *, const struct makeopen *);
struct makeghost *makeghost_find(const struct criumake *,
		    const struct makeinode *);
int		 makeghost_dead(struct criumake *, uint32_t, uint32_t);
int		 makeghost_add(struct criumake *, uint32_t, struct proc *,
		    const struct makeinode *);
int		 makeghost_dirs(struct criumake *);

/* regular.c */
int		 makereg_open(struct criumake *, const struct makeopen *,
		    uint32_t, bool);
int		 makereg_path(struct criumake *, const struct maketask *,
		    const char *, uint32_t *);
int		 makereg_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* shm.c */
struct makeshm	*makeshm_get(struct criumake *, uint64_t, uint64_t,
		    const struct maketask *);
int		 makeshm_mapped(struct criumake *, struct makeshm *,
		    uint32_t *);
uint32_t	 makeshm_huge(uint64_t);
int		 makeshm_content(struct criumake *, struct proc *, uint32_t);
int		 makeshm_write(struct criumake *);

/*
 * Functions that other files of this directory supply for a kind of open file;
 * judge.c lists them. makeobstacle_fn returns why the file cannot be restored,
 * or NULL.  makenote_fn and makewrite_fn return 0, or -1 with errstr set.
 */
typedef const char *makeobstacle_fn(struct criumake *, const struct makeopen *);
typedef int	 makenote_fn(struct criumake *, const struct maketask *,
		    const struct makefd *);
typedef int	 makewrite_fn(struct criumake *, const struct makeopen *,
		    void *);

struct makekind {
	enum criu_fdtype fd;	/* 0: criu cannot restore this kind of file */
	enum makewhy	 why;	/* class of the reason if a file is not
				   restored */
	makeobstacle_fn	*obstacle; /* returns the reason why a file cannot be
				      restored, or NULL if it can; no function:
				      every file can be restored */
	makenote_fn	*note;	/* records what a file loses when it is
				   restored; NULL: nothing */
	size_t		 entry;	/* offset of the message in FileEntry; 0:
				   makereg_open() writes the entry */
	makewrite_fn	*write;	/* sets message fields that no key of the
				   record supplies; NULL: there are none */
	const char	*never;	/* reason why no file of this kind can be
				   restored, or NULL */
};

makeobstacle_fn	 makefifo_obstacle, makenamed_obstacle, makepipe_obstacle,
		 makeunix_obstacle, makeinet_obstacle, makenetlink_obstacle,
		 makepacket_obstacle, maketty_obstacle, makeinotify_obstacle,
		 makefanotify_obstacle, makeeventfd_obstacle,
		 makeepoll_obstacle, makememfd_obstacle, makens_obstacle,
		 makepidfd_obstacle;
makenote_fn	 makenamed_note, makeunix_note, makeinet_note, makesocket_note,
		 maketty_note, makefanotify_note, makeinotify_note;
makewrite_fn	 makefifo_write, makepipe_write, makeunix_write,
		 makeinet_write, makenetlink_write, makepacket_write,
		 maketty_write, makeinotify_write, makefanotify_write,
		 makeepoll_write, maketimerfd_write, makememfd_write,
		 makens_write, makepidfd_write;

const struct makekind *makekind_get(const struct makeopen *);

/* queue.c: data queued in UNIX sockets */
int		 makequeue_use(struct criumake *);
const char	*makequeue_obstacle(const struct criumake *,
		    const struct makeopen *);
int		 makequeue_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makequeue_refuse(struct criumake *);
int		 makequeue_order(struct criumake *);
uint64_t	 makequeue_bytes(const struct criumake *,
		    const struct makeopen *, size_t *packets);
int		 makequeue_write(struct criumake *);

/* sockopt.c: the message of an entry in which a socket option is stored */
enum optpart {
	OPT_SOCKET, OPT_IP, OPT_V4, OPT_V6, OPT_RAW, OPT_TCP, OPT_PARTS
};

int		 makesocket_set(struct criumake *, const struct makeopen *,
		    ProtobufCMessage *const [OPT_PARTS]);
int		 makeinet_options(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* unix.c */
bool		 makeunix_isrenamed(const struct makeopen *);
bool		 makeunix_isoutside(const struct criumake *,
		    const struct makeopen *);
bool		 makeunix_external(const struct criumake *,
		    const struct makeopen *);

/* stdio.c */
void		 makestdio_find(struct criumake *);
bool		 makestdio_isoutside(const struct criumake *,
		    const struct makeopen *);
int		 makestdio_note(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* nsfile.c: namespaces */
uint32_t	 makens_id(const struct criumake *, uint32_t);

/* packet.c */
int		 makepacket_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* tcp.c: TCP connections */
int		 maketcp_judge(struct criumake *);
int		 maketcp_write(struct criumake *, const struct makeopen *,
		    const Criu__TcpOptions *);
bool		 maketcp_filtered(const struct criumake *,
		    const struct makeopen *);
bool		 maketcp_isconnected(const struct makeopen *);
bool		 maketcp_ended(const struct makeopen *);
bool		 maketcp_isrestored(const struct criumake *,
		    const struct makeopen *);

/* inet.c */
int		 makeopen_waiting(struct criumake *, const struct maketask *,
		    const struct makefd *, uint64_t);
enum makewhy	 makeinet_kind(const struct makeopen *);
int		 makeinet_rest(struct criumake *);

/* obstacle.c */
bool		 makeobstacle_isqueue(const struct criumake *,
		    const struct makeopen *);

/* judge.c */
int		 makejudge_opens(struct criumake *);

/* file.c */
int		 makefile_write(struct criumake *);

/* fd.c */
int		 makefd_write(struct criumake *, struct maketask *);

#endif
