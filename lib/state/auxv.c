/*
 * The auxiliary vector: pairs of a type and a value, words of the process in
 * the byte order of its machine (getauxval(3)).  It tells how wide these words
 * are, and how large a page is.
 */
#include "state.h"

#include <elf.h>

/*
 * Return the value of type in auxv, an auxiliary vector of len bytes of machine
 * m with words of 4 or 8 bytes; 0 if it has none: getauxval(3).
 */
uint64_t
auxv_get(const struct machine *m, const void *auxv, size_t len, size_t word,
    uint64_t type)
{
	const uint8_t *p = auxv;
	uint64_t at;

	for (; len >= 2 * word; p += 2 * word, len -= 2 * word) {
		if ((at = machine_get(m, p, word)) == type)
			return machine_get(m, p + word, word);
		if (at == AT_NULL)
			break;
	}
	return 0;
}

/*
 * Return how many bytes the words of auxv have, an auxiliary vector of len
 * bytes of machine m, which are those of the process: the size of a program
 * header gives it away. 0 if it does not.
 */
size_t
auxv_word(const struct machine *m, const void *auxv, size_t len)
{
	if (auxv_get(m, auxv, len, 8, AT_PHENT) == sizeof(Elf64_Phdr))
		return 8;
	return auxv_get(m, auxv, len, 4, AT_PHENT) == sizeof(Elf32_Phdr) ?
	    4 : 0;
}

/*
 * Return how many bytes a page has, as auxv tells, an auxiliary vector of len
 * bytes of machine m: AT_PAGESZ. 0 if it does not.
 */
uint64_t
auxv_page(const struct machine *m, const void *auxv, size_t len)
{
	uint64_t told;
	size_t w;

	w = auxv_word(m, auxv, len);
	told = auxv_get(m, auxv, len, w == 0 ? m->word : w, AT_PAGESZ);
	return told != 0 && machine_page(m, told) == told ? told : 0;
}
