/*
 * Get debugging information from debuginfod(8) servers if DEBUGINFOD_URLS is
 * set. The client library is loaded at start, if it is installed; the program
 * is not linked with it. A helper process, forked before the program is
 * confined, makes the requests: it receives a build ID and sends back a
 * descriptor.
 */
#include "passfd.h"
#include "snapstack/snapstack.h"

#include <sys/socket.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_ID = 64 };

struct question {
	uint8_t		 debug;	/* 1: request debugging information; 0: the file
				   itself */
	uint8_t		 len;
	uint8_t		 id[MAX_ID];
};

typedef void	*(*begin_fn)(void);
typedef int	 (*find_fn)(void *, const unsigned char *, int, char **);

static int sock = -1;		/* socket to the helper process, or -1 */

static void __attribute__((noreturn))
serve(int s, void *client, find_fn debug, find_fn exe)
{
	struct iovec answer = { &(char){ 0 }, 1 };
	struct question q;
	ssize_t sent = 1;
	int fd;

	while (sent == 1 && recv(s, &q, sizeof q, 0) == (ssize_t)sizeof q) {
		/* the library takes an ID of no length for a string */
		fd = q.len == 0 || q.len > MAX_ID ? -1 :
		    (q.debug ? debug : exe)(client, q.id, q.len, NULL);
		sent = passfd_send(s, &answer, 1, fd < 0 ? -1 : fd);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/*
 * Fork the helper process, if servers are configured and the library is
 * installed.
 */
void
fetch_begin(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *lib, *client, *sym[3];
	find_fn debug, exe;
	begin_fn begin;
	int s[2], null;

	if (urls == NULL || *urls == '\0' ||
	    (lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL)) == NULL)
		return;
	sym[0] = dlsym(lib, "debuginfod_begin");
	sym[1] = dlsym(lib, "debuginfod_find_debuginfo");
	sym[2] = dlsym(lib, "debuginfod_find_executable");
	memcpy(&begin, &sym[0], sizeof begin);
	memcpy(&debug, &sym[1], sizeof debug);
	memcpy(&exe, &sym[2], sizeof exe);
	if (begin == NULL || debug == NULL || exe == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) == -1)
		return;
	switch (fork()) {
	case 0:
		close(s[0]);
		/* do not keep the program's output open */
		if ((null = open("/dev/null", O_RDWR | O_CLOEXEC)) != -1) {
			(void)dup2(null, STDIN_FILENO);
			(void)dup2(null, STDOUT_FILENO);
		}
		if ((client = begin()) == NULL)
			_exit(1);
		serve(s[1], client, debug, exe);
	case -1:
		close(s[0]);
		break;
	default:
		sock = s[0];
	}
	close(s[1]);
}

/*
 * Request the file whose build ID is the len bytes at id. If debug is true,
 * request its debugging information instead. Return a descriptor, or -1.
 */
int
fetch_open(const void *id, size_t len, bool debug)
{
	struct question q = { .debug = debug, .len = (uint8_t)len };
	struct iovec answer = { &(char){ 0 }, 1 };
	int fd;

	if (sock == -1 || len > MAX_ID)
		return -1;
	memcpy(q.id, id, len);
	if (write(sock, &q, sizeof q) != (ssize_t)sizeof q)
		return -1;
	(void)passfd_receive(sock, &answer, 1, &fd);
	return fd;
}
