/*
 * Record the settings of the network namespace that this thread is in: those of
 * each link (conf of ipv4 and ipv6 in /proc/sys/net, Documentation/networking
 * of the kernel), and other settings that criu restores or that containers
 * often set.
 */
#include "spaces.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_LINES = 4 * 1024 * 1024 };	/* maximum size of all lines together,
					   in bytes */

static const char below[] = "/proc/sys/net";

/*
 * Append to b a line with a setting: its name, and the words of its value,
 * separated by blanks. name is the path of the setting's file below the
 * directory dir. Append nothing if the setting cannot be read; some can be read
 * only after they are set.
 */
void
setting_add(struct buf *b, const char *dir, const char *name)
{
	char path[700], text[4096], *s, *next;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
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
 * Append to b a line for each setting in a folder below /proc/sys/net; folder
 * is its path there. If levels is 2, take the settings from the subfolders
 * instead.
 */
static void
folder_add(struct buf *b, const char *folder, int levels)
{
	const struct dirent *e;
	char name[600];
	DIR *d;

	snprintf(name, sizeof name, "%s/%s", below, folder);
	if ((d = opendir(name)) == NULL)
		return;
	while ((e = readdir(d)) != NULL && b->len < MAX_LINES) {
		if (*e->d_name == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
		if (levels > 1)
			folder_add(b, name, levels - 1);
		else
			setting_add(b, below, name);
	}
	closedir(d);
}

/*
 * Record in rec the settings of the network namespace that this thread is in.
 */
void
netconf_record(struct filelist *rec)
{
	static const char *const one[] = { "core/somaxconn",
	    "unix/max_dgram_qlen", "ipv4/ip_default_ttl",
	    "ipv4/ping_group_range", "ipv4/ip_unprivileged_port_start",
	    "ipv4/ip_local_port_range", "ipv4/ip_local_reserved_ports",
	    "ipv4/ip_nonlocal_bind", "ipv4/tcp_fin_timeout",
	    "ipv4/tcp_keepalive_time", "ipv4/tcp_keepalive_intvl",
	    "ipv4/tcp_keepalive_probes", "ipv4/tcp_syncookies",
	    "netfilter/nf_conntrack_count" };
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < sizeof one / sizeof *one; i++)
		setting_add(&b, below, one[i]);
	folder_add(&b, "ipv4/conf", 2);
	folder_add(&b, "ipv6/conf", 2);
	filelist_buf(rec, "net/settings", &b);
}
