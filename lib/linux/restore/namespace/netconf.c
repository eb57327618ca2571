/*
 * Settings of a network namespace, where this thread is: those of its links
 * (conf of ipv4 and ipv6 below /proc/sys/net, Documentation/networking of the
 * kernel), and what else it has of its own that criu restores, or that is often
 * set where containers are.
 */
#include "spaces.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BELOW	"/proc/sys/net/"

enum { LINES_MOST = 4 * 1024 * 1024 };	/* bytes */

/*
 * Add a line for a setting to b: its name below /proc/sys/net, and what it is
 * set to, with a blank between two words of that.  Some cannot be read until
 * they are set: they have no line.
 */
static void
setting_add(struct buf *b, const char *name)
{
	char path[700], text[256], *s, *next;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, BELOW "%s", name);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	buf_puts(b, name);
	for (next = text; (s = strsep(&next, " \t\n")) != NULL;)
		if (*s != '\0')
			buf_printf(b, " %s", s);
	buf_puts(b, "\n");
}

/*
 * Add a line for each setting of a folder below /proc/sys/net.
 */
static void
folder_add(struct buf *b, const char *folder)
{
	const struct dirent *e;
	char name[600];
	DIR *d;

	snprintf(name, sizeof name, BELOW "%s", folder);
	if ((d = opendir(name)) == NULL)
		return;
	while ((e = readdir(d)) != NULL && b->len < LINES_MOST)
		if (*e->d_name != '.') {
			snprintf(name, sizeof name, "%s/%s", folder,
			    e->d_name);
			setting_add(b, name);
		}
	closedir(d);
}

/*
 * Record in to the settings of where this thread is.
 */
void
netconf_record(struct filelist *to)
{
	static const char *const conf[] = { "ipv4/conf", "ipv6/conf" };
	static const char *const one[] = { "unix/max_dgram_qlen",
	    "ipv4/ping_group_range", "ipv4/ip_unprivileged_port_start",
	    "ipv4/ip_local_port_range", "ipv4/ip_local_reserved_ports",
	    "ipv4/ip_nonlocal_bind", "ipv4/tcp_fin_timeout",
	    "ipv4/tcp_keepalive_time", "ipv4/tcp_keepalive_intvl",
	    "ipv4/tcp_keepalive_probes", "ipv4/tcp_syncookies",
	    "netfilter/nf_conntrack_count" };
	struct buf b = { 0 };
	const struct dirent *e;
	char name[300];
	size_t i;
	DIR *d;

	for (i = 0; i < sizeof one / sizeof *one; i++)
		setting_add(&b, one[i]);
	for (i = 0; i < sizeof conf / sizeof *conf; i++) {
		snprintf(name, sizeof name, BELOW "%s", conf[i]);
		if ((d = opendir(name)) == NULL)
			continue;
		while ((e = readdir(d)) != NULL)
			if (*e->d_name != '.') {
				snprintf(name, sizeof name, "%s/%s", conf[i],
				    e->d_name);
				folder_add(&b, name);
			}
		closedir(d);
	}
	filelist_buf(to, "net/settings", &b);
}
