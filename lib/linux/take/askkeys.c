/*
 * What keyrings of a process have: keyrings(7).  Only the process can tell.
 */
#include "asking.h"

#include <sys/syscall.h>

#include <linux/keyctl.h>

#include <string.h>

enum {
	ROOM = 448,		/* bytes that inject_scratch has at the least */
	KEYS_MOST = ROOM / 4
};

/*
 * Read which keys a keyring has, of which there is room for KEYS_MOST in key.
 * Return how many they are, which may be more; 0 if there is no such keyring,
 * or the process may not read it; or -1 with errstr.
 */
static int
keyring_read(struct asking *a, int id, int32_t *key)
{
	const uint64_t arg[6] = { KEYCTL_READ, (uint64_t)(int64_t)id,
	    inject_scratch(a->in), KEYS_MOST * sizeof *key };
	int64_t ret;

	if (inject_call(a->in, &ret, SYS_keyctl, arg) == -1)
		return -1;
	if (ret <= 0)
		return 0;
	return (uint64_t)ret <= KEYS_MOST * sizeof *key &&
	    inject_read(a->in, key, (size_t)ret) == -1 ? -1 :
	    (int)((uint64_t)ret / sizeof *key);
}

/*
 * Return 1 if a key is none that sessions have anyway, which is the keyring of
 * the user; 0, or -1 with errstr.
 */
static int
key_counts(struct asking *a, int32_t key)
{
	const uint64_t arg[6] = { KEYCTL_DESCRIBE, (uint64_t)(int64_t)key,
	    inject_scratch(a->in), ROOM };
	char text[ROOM + 1];
	int64_t ret;

	if (inject_call(a->in, &ret, SYS_keyctl, arg) == -1)
		return -1;
	if (ret <= 0 || ret > ROOM)
		return 1;
	if (inject_read(a->in, text, (size_t)ret) == -1)
		return -1;
	text[ret] = '\0';
	return strncmp(text, "keyring;", 8) != 0 ||
	    strstr(text, ";_uid.") == NULL;
}

/*
 * Record how many keys the keyring of each of n processes v has, if it has one
 * that is not empty.  That of a process is not made by being looked for.
 */
void
ask_processkeys(struct asking *v, size_t n)
{
	const uint64_t arg[6] = { KEYCTL_READ,
	    (uint64_t)(int64_t)KEY_SPEC_PROCESS_KEYRING, 0,
	    KEYS_MOST * sizeof(int32_t) };
	struct asking *a;

	ask_each(v, n, SYS_keyctl, arg, 2);
	for (a = v; a < v + n; a++)
		if (a->rc == 0 && a->ret > 0)
			filelist_text(a->to, "keyring/process", "%d\n",
			    (int)(a->ret / (int64_t)sizeof(int32_t)));
}

/*
 * Record the same of the keyring of its session, for which the clone of a
 * process is asked, by a: one that has none gets one thereby.  Return 0, or -1
 * with errstr.
 */
int
ask_sessionkeys(struct asking *a)
{
	int32_t key[KEYS_MOST];
	int i, n, rc, count;

	if ((n = keyring_read(a, KEY_SPEC_SESSION_KEYRING, key)) == -1)
		return -1;
	for (count = n, i = 0; n <= KEYS_MOST && i < n; i++) {
		if ((rc = key_counts(a, key[i])) == -1)
			return -1;
		count -= rc == 0;
	}
	if (count > 0)
		filelist_text(a->to, "keyring/session", "%d\n", count);
	return 0;
}
