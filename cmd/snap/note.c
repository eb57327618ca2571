/*
 * Make the file "taken" of the Linux record: user, time, host, command line and
 * reason of the snapshot.
 */
#include "job.h"
#include "snap/snap.h"
#include "vec.h"

#include <sys/utsname.h>

#include <pwd.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_COMMAND = 4000, /* maximum length of the command line, in bytes */
	MAX_TAKEN = 200	/* maximum length of other values, in bytes */
};

/*
 * Append a line with key and value to b. Replace control characters in value,
 * and truncate it to max bytes.
 */
static void
line_put(struct buf *b, const char *key, const char *value, size_t max)
{
	char s[MAX_COMMAND + 1];
	bool cut;

	cut = strlen(value) > max;
	snprintf(s, sizeof s, "%.*s", (int)max, value);
	buf_printf(b, "%s %s%s\n", key, text_sanitize(s), cut ? "..." : "");
}

static void
user_put(struct buf *b, const char *key, uid_t uid)
{
	struct passwd *pw;
	char num[16];

	snprintf(num, sizeof num, "%u", (unsigned int)uid);
	pw = getpwuid(uid);
	line_put(b, key, pw == NULL ? num : pw->pw_name, MAX_TAKEN);
}

static void
command_put(struct buf *b, char *const argv[])
{
	struct buf words = { 0 };
	char *text;

	buf_puts(&words, getprogname());
	for (argv += *argv != NULL; *argv != NULL; argv++) {
		buf_puts(&words, " ");
		shell_word(&words, *argv);
	}
	b->failed |= (text = buf_text(&words)) == NULL;
	if (text != NULL)
		line_put(b, "command", text, MAX_COMMAND);
	free(text);
}

/*
 * Check that text is a valid note: at most MAX_NOTE bytes of UTF-8 without
 * control characters. Return text, or NULL with errstr set.
 */
const char *
note_check(const char *text)
{
	char *copy;
	bool same;

	if (strlen(text) > MAX_NOTE) {
		(void)errstr_set("longer than %d bytes", MAX_NOTE);
		return NULL;
	}
	if ((copy = str_dup(text)) == NULL)
		return NULL;
	same = strcmp(text_sanitize(copy), text) == 0;
	free(copy);
	if (!same)
		(void)errstr_set("contains a control character or invalid "
		    "UTF-8; must be one line of text");
	return same ? text : NULL;
}

/*
 * Append to b the lines of the file "taken", which says how a snapshot was
 * taken. Leave out lines whose values cannot be determined. argv is the command
 * line of this program. text is the reason for the snapshot, or NULL.
 */
void
note_make(struct buf *b, char *const argv[], const char *text)
{
	/* su(1) and sudo(8) do not change the loginuid (proc(5)) */
	const uid_t login = (uid_t)proc_setting("/proc/self/loginuid", -1);
	struct timespec now;
	struct utsname u;

	clock_gettime(CLOCK_REALTIME, &now);
	buf_printf(b, "time %lld\n", (long long)now.tv_sec);
	user_put(b, "user", getuid());
	if (login != UINT32_MAX && login != getuid())
		user_put(b, "login", login);
	if (uname(&u) == 0) {
		line_put(b, "host", u.nodename, MAX_TAKEN);
		line_put(b, "kernel", u.release, MAX_TAKEN);
	}
	buf_printf(b, "version %s\n", SNAP_VERSION);
	command_put(b, argv);
	if (text != NULL)
		line_put(b, "note", text, MAX_NOTE);
}
