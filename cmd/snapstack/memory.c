/*
 * Limit the memory of the program. libdw unpacks sections of ELF files, which
 * may be crafted: half a megabyte of .gnu_debugdata can become 3 GB.
 */
#include "snapstack.h"

#include <sys/resource.h>

#include <unistd.h>

static uint64_t most;		/* limit in bytes */
static uint64_t before;		/* maximum size before the limit was set, or
				   before exec(2), in bytes */

/*
 * Return the maximum size of this process so far in bytes.
 */
static uint64_t
size_peak(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_SELF, &ru) == -1 ? 0 :
	    (uint64_t)ru.ru_maxrss * KB;
}

/*
 * Limit the memory of this process to half of the machine's memory, and to a
 * gigabyte at least. Debugging information of large programs, which has several
 * gigabytes, must still fit, and other programs must not lack memory. A lower
 * limit is kept.
 */
void
memory_limit(void)
{
	const uint64_t least = UINT64_C(1) << 30;
	const long pages = sysconf(_SC_PHYS_PAGES), size =
	    sysconf(_SC_PAGESIZE);
	uint64_t was;

	before = size_peak();
	most = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : 0;
	if (most < least)
		most = least;
	if ((was = program_memory(most)) < most)
		(void)program_memory(most = was);
}

/*
 * Report, once, that the limit was reached: if libdw gets no memory, it does
 * without the data, and says nothing. Unpacked data fills the memory, so its
 * size shows that.
 */
void
memory_check(void)
{
	static bool reported;
	const uint64_t peak = size_peak();
	char text[128];

	if (reported || peak <= before || peak < most / 4 * 3)
		return;
	reported = true;
	snprintf(text, sizeof text, "the limit of %" PRIu64 " MiB of memory "
	    "was reached: names and lines may be missing", most >> 20);
	program_lose(NULL, text);
}
