/*
 * Record terminals, from a duplicate. Closing that has no effect, because the
 * process still has the terminal open. The controlling terminal and the
 * foreground process group are in the stat of processes.
 */
#include "calls.h"
#include "opened.h"

#include <sys/ioctl.h>

enum {				/* from linux/major.h */
	MAJOR_AUX = 5, MAJOR_PTS = 136, PTS_MAJORS = 8, MINORS = 256,
	MINOR_PTMX = 2
};

struct modes { /* the kernel's struct termios, as TCGETS returns it */
	uint32_t	 flags[4];
	uint8_t		 line;
	uint8_t		 cc[19];
};

/*
 * Append to the record of t two lines with the modes that ioctl(2) returns for
 * this request. The first begins with key, the second with key followed by
 * "cc".
 */
static void
modes_record(struct filerec *t, unsigned long request, const char *key)
{
	struct modes m = { 0 };

	if (call_ioctl(t->dup, request, &m) == -1) {
		tell_why(t, "cannot read its terminal settings");
		return;
	}
	buf_printf(&t->out, "%s %x %x %x %x %u\n%scc ", key, m.flags[0],
	    m.flags[1], m.flags[2], m.flags[3], m.line, key);
	buf_hex(&t->out, m.cc, sizeof m.cc);
	buf_puts(&t->out, "\n");
}

/*
 * Append to the record of t the number of a pseudo terminal, and whether t is
 * its master. Do nothing for other terminals.
 */
static void
ttyindex_record(struct filerec *t)
{
	unsigned int index;

	index = t->rminor;
	if (t->rmajor == MAJOR_AUX && t->rminor == MINOR_PTMX) {
		if (call_ioctl(t->dup, TIOCGPTN, &index) == -1) {
			tell_why(t, "cannot read its terminal number");
			return;
		}
		buf_puts(&t->out, "master 1\n");
	} else if (t->rmajor >= MAJOR_PTS && t->rmajor < MAJOR_PTS + PTS_MAJORS)
		index += (t->rmajor - MAJOR_PTS) * MINORS;
	else
		return;
	buf_printf(&t->out, "index %u\n", index);
}

/*
 * Append to the record of t, duplicated in t->dup, the lines that only
 * terminals have.
 */
void
tty_record(struct filerec *t)
{
	struct winsize size;
	struct modes m;

	ttyindex_record(t);
	if (call_ioctl(t->dup, TCGETS, &m) == -1 && errno == EIO) {
		/* the other end is closed */
		buf_puts(&t->out, "hungup 1\n");
		return;
	}
	modes_record(t, TCGETS, "termios");
	modes_record(t, TIOCGLCKTRMIOS, "termlock");
	if (call_ioctl(t->dup, TIOCGWINSZ, &size) == 0)
		buf_printf(&t->out, "winsize %u %u %u %u\n", size.ws_row,
		    size.ws_col, size.ws_xpixel, size.ws_ypixel);
	filerec_ioctl(t, "exclusive", TIOCGEXCL);
	filerec_ioctl(t, "packet", TIOCGPKT);
	filerec_ioctl(t, "shut", TIOCGPTLCK);
	filerec_ioctl(t, "waiting", TIOCINQ);
}
