/*
 * Accept 9P2000 clients, each in a thread. The confined program may not make
 * sockets, so its helper process does (confine_act).
 */
#include "snapfs.h"

#include "clock.h"
#include "worker.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <unistd.h>

enum { MAX_CLIENTS = 64, RETRY_US = 100000 };

static struct served *served;	/* what all clients see */
static atomic_uint clients;	/* number of clients */

/*
 * Return a descriptor that listens at the new socket path, which only our user
 * may use, or -1 with errno set. Set *made to the absolute path.
 */
static int
unix_listen(const char *path, char **made)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	if (strlcpy(sun.sun_path, path, sizeof sun.sun_path) >=
	    sizeof sun.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return -1;
	umask(077);
	if (bind(fd, (struct sockaddr *)&sun, sizeof sun) == -1 ||
	    (*made = realpath(path, NULL)) == NULL ||
	    listen(fd, SOMAXCONN) == -1) {
		fd_drop(fd);
		return -1;
	}
	return fd;
}

/*
 * Return a descriptor that listens at port of host, or -1 with errno set. If
 * host has several addresses, listen at the first one that is free. If host is
 * "*", listen at all addresses of the machine. Set *why to the reason if the
 * names are wrong.
 */
static int
tcp_listen(const char *host, const char *port, const char **why)
{
	static const int on = 1, off = 0;
	const struct addrinfo want = { .ai_flags = AI_PASSIVE,
	    .ai_socktype = SOCK_STREAM };
	struct addrinfo *all, *a;
	int fd, rc;

	if (strcmp(host, "*") == 0) {
		fd = tcp_listen("::", port, why);
		return fd != -1 || errno == EADDRINUSE ? fd :
		    tcp_listen("0.0.0.0", port, why);
	}
	/* getaddrinfo(3) takes the last 16 bits of a larger number */
	rc = port[strspn(port, "0123456789")] == '\0' &&
	    strtoul(port, NULL, 10) > UINT16_MAX ? EAI_SERVICE :
	    getaddrinfo(host, port, &want, &all);
	if (rc != 0) {
		*why = rc == EAI_SYSTEM ? NULL :
		    rc == EAI_SERVICE ? "no such port" : gai_strerror(rc);
		return -1;
	}
	for (fd = -1, a = all; fd == -1 && a != NULL; a = a->ai_next) {
		if ((fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
		    0)) == -1)
			continue;
		/* "::" includes the addresses of IPv4 */
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
		    sizeof off);
		/* accepted sockets inherit these */
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		if (bind(fd, a->ai_addr, a->ai_addrlen) == -1 ||
		    listen(fd, SOMAXCONN) == -1) {
			fd_drop(fd);
			fd = -1;
		}
	}
	freeaddrinfo(all);
	return fd;
}

/*
 * Listen at address: unix!PATH or a path, which has a slash; or [tcp!]HOST!PORT
 * or HOST:PORT. Set *path to the path of the socket that was made, if any.
 * Return the descriptor, or -1 after a message.
 */
static int
address_listen(const char *address, char **path)
{
	const char *why = NULL;
	char *copy, *host, *port;
	int fd;

	copy = host = must(strdup(address));
	if (strncmp(host, "unix!", 5) == 0)
		fd = unix_listen(host + 5, path);
	else if (strchr(host, '/') != NULL)
		fd = unix_listen(host, path);
	else {
		host += strncmp(host, "tcp!", 4) == 0 ? 4 : 0;
		if ((port = strchr(host, '!')) == NULL)
			port = strrchr(host, ':');
		if (port == NULL || port == host || port[1] == '\0')
			fd = -1, why = "not a path, HOST:PORT or tcp!HOST!PORT";
		else {
			*port++ = '\0';
			fd = tcp_listen(host, port, &why);
		}
	}
	if (fd == -1)
		program_warn("%s: %s", address,
		    why != NULL ? why : strerror(errno));
	free(copy);
	return fd;
}

/*
 * Listen at the address of arg, a struct listening. This runs in the helper.
 * Return the descriptor, or -1 after a message.
 */
int
listen_make(void *arg)
{
	struct listening *l = arg;
	int fd = address_listen(l->opts->address, &l->path);

	if (l->path != NULL)
		(void)lstat(l->path, &l->st);
	if (fd != -1 && !l->opts->foreground)
		daemon_leave(STDIN_FILENO);
	return fd;
}

/*
 * Remove the socket file of arg, a struct listening, unless another file has
 * its name now.
 */
void
listen_end(void *arg)
{
	const struct listening *l = arg;
	struct stat st;

	if (l->path != NULL && lstat(l->path, &st) == 0 &&
	    st.st_dev == l->st.st_dev && st.st_ino == l->st.st_ino)
		(void)unlink(l->path);
}

static void *
client_run(void *arg)
{
	const int fd = (int)(intptr_t)arg;

	ninep_serve(served, fd);
	close(fd);
	atomic_fetch_sub(&clients, 1);
	return NULL;
}

static void
on_end(int sig)
{
	(void)sig;
	_exit(0);
}

/*
 * Serve sv to clients at the address of l until a signal arrives, which ends
 * the program. Return 1 if that failed.
 */
int
listen_serve(const struct listening *l, struct served *sv)
{
	pthread_t t;
	int fd, sock, rc;

	program_catch(on_end, SA_RESTART);
	if ((rc = confine_act(&sock)) == -1)
		program_warn("%s: %s", l->opts->address, snap_errstr());
	if (rc != 0)
		return 1;
	served = sv;
	daemon_ready(sv->status);
	for (;;) {
		fd = accept4(sock, NULL, NULL, SOCK_CLOEXEC);
		if (fd == -1)
			nap_us(RETRY_US);
		else if (atomic_fetch_add(&clients, 1) < MAX_CLIENTS &&
		    worker_start(&t, client_run, (void *)(intptr_t)fd) == 0)
			pthread_detach(t);
		else {
			atomic_fetch_sub(&clients, 1);
			close(fd);
		}
	}
}
