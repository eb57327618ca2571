/*
 * The kinds of open files: which criu restores, as what, and which functions
 * know more of one than its keys.
 */
#include "open.h"

#define ENTRY(field) offsetof(Criu__FileEntry, field)

static const struct makekind kinds[KIND_MAX] = {
	[KIND_OTHER] = { 0, WHY_OTHER,
	    .never = "nothing that criu could open" },
	[KIND_DEVICE] = { 0, WHY_DEVICE, .never = "a device" },
	[KIND_IO_URING] = { 0, WHY_IO_URING, .never = "io_uring" },
	[KIND_MQUEUE] = { 0, WHY_MQUEUE, .never = "a POSIX message queue" },
	[KIND_REG] = { FD_REG, WHY_OTHER, makenamed_hinders },
	[KIND_DIR] = { FD_REG, WHY_OTHER, makenamed_hinders },
	[KIND_CHR] = { FD_REG, WHY_OTHER, makenamed_hinders },
	[KIND_LINK] = { FD_REG, WHY_OTHER, makenamed_hinders },
	[KIND_FIFO] = { FD_FIFO, WHY_PIPE, makenamed_hinders, NULL,
	    ENTRY(fifo), makefifo_write },
	[KIND_PIPE] = { FD_PIPE, WHY_PIPE, makepipe_hinders, NULL,
	    ENTRY(pipe), makepipe_write },
	[KIND_UNIX] = { FD_UNIXSK, WHY_UNIX, makeunix_hinders, makeunix_note,
	    ENTRY(usk), makeunix_write },
	[KIND_INET] = { FD_INETSK, WHY_TCP, makeinet_hinders, makeinet_note,
	    ENTRY(isk), makeinet_write },
	[KIND_NETLINK] = { FD_NETLINKSK, WHY_NETLINK, makenetlink_hinders,
	    makesocket_note, ENTRY(nlsk), makenetlink_write },
	[KIND_PACKET] = { FD_PACKETSK, WHY_PACKET, makepacket_hinders,
	    makesocket_note, ENTRY(psk), makepacket_write },
	[KIND_TTY] = { FD_TTY, WHY_TTY, maketty_hinders, maketty_note,
	    ENTRY(tty), maketty_write },
	[KIND_INOTIFY] = { FD_INOTIFY, WHY_INOTIFY, makeinotify_hinders, NULL,
	    ENTRY(ify), makeinotify_write },
	[KIND_FANOTIFY] = { FD_FANOTIFY, WHY_FANOTIFY, makefanotify_hinders,
	    makefanotify_note, ENTRY(ffy), makefanotify_write },
	[KIND_EVENTFD] = { FD_EVENTFD, WHY_EVENTFD, makeeventfd_hinders, NULL,
	    ENTRY(efd) },
	[KIND_EPOLL] = { FD_EVENTPOLL, WHY_EPOLL, makeepoll_hinders, NULL,
	    ENTRY(epfd), makeepoll_write },
	[KIND_TIMERFD] = { FD_TIMERFD, WHY_OTHER, NULL, NULL,
	    ENTRY(tfd), maketimerfd_write },
	[KIND_SIGNALFD] = { FD_SIGNALFD, WHY_OTHER, NULL, NULL, ENTRY(sgfd) },
	[KIND_MEMFD] = { FD_MEMFD, WHY_SHM, makememfd_hinders, NULL,
	    ENTRY(memfd), makememfd_write },
	[KIND_NAMESPACE] = { FD_NS, WHY_NAMESPACES, makens_hinders, NULL,
	    ENTRY(nsf), makens_write },
	[KIND_PIDFD] = { FD_PIDFD, WHY_PIDFD, makepidfd_hinders, NULL,
	    ENTRY(pidfd), makepidfd_write }
};

/*
 * Return what there is to know of the kind of open file f.
 */
const struct makekind *
makekind_get(const struct makeopen *f)
{
	return &kinds[f->type];
}
