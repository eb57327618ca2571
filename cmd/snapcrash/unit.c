/*
 * Install and remove the systemd(1) units for the socket that the kernel sends
 * cores to, and for snapcrash serve. Their first line marks them as ours.
 */
#include "crash.h"

#include <err.h>
#include <unistd.h>

#define UNITS	"/etc/systemd/system/"
#define OURS	"# made by snapcrash install"

static const char *const names[] = { UNITS "snapcrash.socket",
    UNITS "snapcrash.service" };

/* start before sysctl(8) directs cores to the socket */
static const char listens[] = OURS "\n"
    "[Unit]\n"
    "Description=Socket that the kernel sends cores to\n"
    "Documentation=man:snapcrash(1)\n"
    "DefaultDependencies=no\n"
    "Before=sockets.target shutdown.target systemd-sysctl.service\n"
    "Conflicts=shutdown.target\n"
    "\n"
    "[Socket]\n"
    "ListenStream=%s\n"
    "SocketMode=0600\n"
    "\n"
    "[Install]\n"
    "WantedBy=sockets.target\n";

/* KillMode=mixed lets running handlers finish */
static const char serves[] = OURS "\n"
    "[Unit]\n"
    "Description=Snapshots of processes that crash\n"
    "Documentation=man:snapcrash(1)\n"
    "DefaultDependencies=no\n"
    "Conflicts=shutdown.target\n"
    "Before=shutdown.target\n"
    "RequiresMountsFor=%s\n"
    "\n"
    "[Service]\n"
    "ExecStart=%s -c %s serve\n"
    "KillMode=mixed\n"
    "TimeoutStopSec=10min\n";

/*
 * Return true if systemd is running.
 */
static bool
units_work(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

/*
 * Run systemctl(1). Return its exit status, or -1 if it cannot be started.
 */
static int
systemctl(const char *verb, const char *option, const char *unit)
{
	char *argv[] = { (char *)(uintptr_t)"systemctl",
	    (char *)(uintptr_t)verb, (char *)(uintptr_t)option,
	    (char *)(uintptr_t)unit, NULL };

	return program_wait(program_start(argv, NULL, false), 0);
}

/*
 * Return true if the unit file called name exists and was created by snapcrash.
 */
static bool
unit_isours(const char *name)
{
	char line[sizeof OURS];

	return line_read(name, line, sizeof line) == 0 &&
	    strcmp(line, OURS) == 0;
}

/*
 * Write the unit files for configuration c if systemd is installed. Also start
 * the socket, again if it is active, if systemd is running. path is the
 * configuration file. Exit with status 1 on failure.
 */
void
units_install(const struct config *c, const char *path)
{
	char self[PATH_MAX];
	const char *const words[] = { c->socket, c->directory, path, self };
	size_t i;

	if (access(UNITS, F_OK) == -1)
		return;
	for (i = 0; i < 2; i++)
		if (access(names[i], F_OK) == 0 && !unit_isours(names[i]))
			errx(1, "%s: exists but was not created by snapcrash; "
			    "not overwritten", names[i]);
	if (program_self(self) == -1)
		errx(1, "%s", snap_errstr());
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strpbrk(words[i], " \t%\\\"'") != NULL)
			errx(1, "%s: contains a character that is not allowed "
			    "in a systemd unit", words[i]);
	if (file_write(names[0], listens, c->socket) == -1 ||
	    file_write(names[1], serves, c->directory, self, path) == -1)
		errx(1, "%s", snap_errstr());
	if (!units_work())
		return;
	if (systemctl("daemon-reload", "--quiet", NULL) != 0 ||
	    systemctl("enable", "--quiet", "snapcrash.socket") != 0 ||
	    /* they may run with another configuration; a socket does not
	       start while its service runs */
	    systemctl("stop", "--quiet", "snapcrash.service") != 0 ||
	    systemctl("restart", "--quiet", "snapcrash.socket") != 0)
		errx(1, "systemctl failed");
}

/*
 * Stop and remove our units, if there are any.
 */
void
units_remove(void)
{
	size_t i;

	if (!unit_isours(names[0]) && !unit_isours(names[1]))
		return;
	if (units_work()) {
		(void)systemctl("disable", "--now", "snapcrash.socket");
		/* stopping the socket does not stop the service */
		(void)systemctl("stop", "snapcrash.service", NULL);
	}
	for (i = 0; i < 2; i++)
		if (unit_isours(names[i]) && unlink(names[i]) == -1)
			err(1, "%s", names[i]);
	if (units_work())
		(void)systemctl("daemon-reload", "--quiet", NULL);
}
