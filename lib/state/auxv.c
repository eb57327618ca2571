/*
 * The auxiliary vector: pairs of a type and a value, words of the process
 * (getauxval(3)).
 */
#include "num.h"
#include "state.h"

#include <elf.h>

/*
 * Return the value of a type in a vector of len bytes with words of 4 or 8
 * bytes; 0 if it has none.
 */
uint64_t
auxv_get(const void *auxv, size_t len, size_t word, uint64_t type)
{
	const uint8_t *p = auxv;
	uint64_t at;

	for (; len >= 2 * word; p += 2 * word, len -= 2 * word) {
		if ((at = num_get(p, word)) == type)
			return num_get(p + word, word);
		if (at == AT_NULL)
			break;
	}
	return 0;
}
