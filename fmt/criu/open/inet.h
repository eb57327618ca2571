/*
 * Sockets of the internet, for CRIU images: what sockopt.c, tcp.c and
 * inet.c share.
 */
#ifndef MAKEINET_H
#define MAKEINET_H

#include "open.h"

struct inetopts {		/* options, as an image has them */
	Criu__SocketOptions socket;
	Criu__IpOptions	 ip;
	Criu__RawOptions raw;
	Criu__TcpOptions tcp;
	protobuf_c_boolean has_v6only;
	protobuf_c_boolean v6only;
	uint64_t	*filter; /* instructions of BPF */
	uint32_t	 members; /* groups of a netlink socket */
};

/* sockopt.c */
int		 makeinet_options(struct criumake *, const struct maketask *,
		    const struct makefd *);
struct inetopts	*makeinet_opts(struct criumake *, const struct makeopen *,
		    bool);

#endif
