/*
 * What is open, and what is mapped and has a name, as CRIU images: files.img
 * and those of what such files have in them.
 *
 * The lowest first:
 *
 *	ghost.c		deleted files
 *	regular.c	files with a name
 *	shm.c		shared memory
 *	queue.c		what waits in UNIX sockets
 *	sockopt.c	options of sockets
 *	unix.c		UNIX sockets
 *	standard.c	standard input, output and error that lead outside
 *	tty.c		terminals
 *	watch.c		what is watched: inotify, fanotify
 *	nsfile.c	namespaces
 *	netlink.c	netlink sockets
 *	packet.c	packet sockets
 *	tcp.c		connections of TCP
 *	inet.c		sockets of the internet
 *	hinders.c	why others cannot be restored
 *	entry.c		and what their entries have
 *	judge.c		the table of all kinds: what of these can be restored
 *	file.c		files.img, an entry for each
 *	fd.c		descriptors, and locks
 */
#ifndef CRIUOPEN_H
#define CRIUOPEN_H

#include "criu/facts/facts.h"

enum {				/* of include/net/tcp_states.h, sys/socket.h */
	STATE_ESTABLISHED = 1, STATE_CLOSE = 7, STATE_LISTEN = 10,
	TYPE_STREAM = 1, TYPE_DGRAM, TYPE_RAW, SHUT_BOTH = 3
};

enum {				/* ends of a pipe */
	PIPE_READ = 1, PIPE_WRITE = 2, PIPE_BOTH = PIPE_READ | PIPE_WRITE
};

/* ghost.c */
struct makeinode {		/* of a deleted file */
	uint64_t	 dev;
	uint64_t	 ino;
	uint32_t	 mode;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 rdev;
	bool		 timed;	/* the next two are told */
	uint64_t	 atime;	/* ns */
	uint64_t	 mtime;	/* ns */
	bool		 sized;	/* the next is */
	uint64_t	 size;	/* bytes */
	char		*leads;	/* borrowed; where a symbolic link leads */
};

struct proc	*makereg_content(struct criumake *, uint64_t, uint64_t);
uint64_t	 makereg_size(const struct proc *);
uint64_t	 makeghost_names(const struct proc *);
void		 makeghost_inode(struct makeinode *, const struct makeopen *);
int		 makeghost_add(struct criumake *, uint32_t, struct proc *,
		    const struct makeinode *);

/* regular.c */
int		 makereg_open(struct criumake *, const struct makeopen *,
		    uint32_t, bool);
int		 makereg_path(struct criumake *, const char *, uint32_t *);
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
 * Kinds of open files, judge.c: functions of the others that it lists return
 * why one cannot be restored, or NULL; and 0, or -1 with errstr.
 */
typedef const char *makeobstacle_fn(struct criumake *, const struct makeopen *);
typedef int	 makenote_fn(struct criumake *, const struct maketask *,
		    const struct makefd *);
typedef int	 makewrite_fn(struct criumake *, const struct makeopen *,
		    void *);

struct makekind {
	enum criu_fdtype fd;	/* 0: criu cannot restore it */
	enum makewhy	 why;	/* the kind of reason that it is not */
	makeobstacle_fn	*hinders; /* NULL: nothing hinders it */
	makenote_fn	*note;	/* notes what of a descriptor of a process is
				   not as it was; NULL: all of it is */
	size_t		 entry;	/* the offset of its message in FileEntry; 0:
				   it is one with a name */
	makewrite_fn	*write;	/* sets what its keys do not say in that
				   message; NULL: they say all */
	const char	*never;	/* without fd: what it is */
};

makeobstacle_fn	 makenamed_obstacle, makepipe_obstacle, makeunix_obstacle,
		 makeinet_obstacle, makenetlink_obstacle, makepacket_obstacle,
		 maketty_obstacle, makeinotify_obstacle, makefanotify_obstacle,
		 makeeventfd_obstacle, makeepoll_obstacle, makememfd_obstacle,
		 makens_obstacle, makepidfd_obstacle;
makenote_fn	 makeunix_note, makeinet_note, makesocket_note, maketty_note,
		 makefanotify_note;
makewrite_fn	 makefifo_write, makepipe_write, makeunix_write,
		 makeinet_write, makenetlink_write, makepacket_write,
		 maketty_write, makeinotify_write, makefanotify_write,
		 makeepoll_write, maketimerfd_write, makememfd_write,
		 makens_write, makepidfd_write;

const struct makekind *makekind_get(const struct makeopen *);

/* queue.c: what waits in UNIX sockets */
int		 makequeue_use(struct criumake *);
const char	*makequeue_obstacle(const struct criumake *,
		    const struct makeopen *);
int		 makequeue_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makequeue_refuse(struct criumake *);
int		 makequeue_order(struct criumake *);
int		 makequeue_write(struct criumake *);

/* sockopt.c: options of sockets, in which messages of an entry */
enum optpart { OPT_SOCKET, OPT_IP, OPT_RAW, OPT_TCP, OPT_V6, OPT_PARTS };

void		 makesocket_options(const struct makeopen *,
		    Criu__SocketOptions *);
int		 makesocket_set(struct criumake *, const struct makeopen *,
		    ProtobufCMessage *const [OPT_PARTS]);
int		 makeinet_options(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* unix.c */
bool		 makeunix_leaves(const struct criumake *,
		    const struct makeopen *);
bool		 makeunix_external(const struct criumake *,
		    const struct makeopen *);

/* standard.c */
void		 makestandard_find(struct criumake *);
bool		 makestandard_leaves(const struct criumake *,
		    const struct makeopen *);
int		 makestandard_note(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* nsfile.c: namespaces */
uint32_t	 makens_id(const struct criumake *, uint32_t);

/* packet.c */
int		 makepacket_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* tcp.c: connections of TCP */
int		 maketcp_judge(struct criumake *);
int		 maketcp_write(struct criumake *, const struct makeopen *,
		    const Criu__TcpOptions *);
bool		 maketcp_is(const struct makeopen *);
bool		 maketcp_ended(const struct makeopen *);
bool		 maketcp_goes(const struct criumake *, const struct makeopen *);

/* inet.c */
enum makewhy	 makeinet_kind(const struct makeopen *);
int		 makeinet_rest(struct criumake *);

/* hinders.c */
bool		 makehinders_queue(const struct criumake *,
		    const struct makeopen *);

/* judge.c */
int		 makejudge_opens(struct criumake *);

/* file.c */
int		 makefile_write(struct criumake *);

/* fd.c */
int		 makefd_write(struct criumake *, struct maketask *);

#endif
