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
};

/* sockopt.c */
int		 makeinet_options(struct criumake *, const struct makeinet *,
		    const char *);
void		 makeinet_put(struct makeinet *, bool, struct inetopts *);

#endif
