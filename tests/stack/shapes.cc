// A program of C++ that waits below a destructor, while an exception is
// handled, in functions that are inlined and templates.
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes {

static inline __attribute__((always_inline)) int
wait_here(int n)
{
	std::puts("ready");
	std::fflush(stdout);
	return ::pause() + n;
}

template <typename T> struct Guard {
	T		 value;
	explicit Guard(T v) : value(v) { }
	~Guard() { value += wait_here(3); }
};

class Square {
public:
	__attribute__((noinline)) int
	area(const std::vector<int> &sides) const
	{
		Guard<int> g(1);

		return sides.at(7);	// throws
	}
};

}

int
main()
{
	shapes::Square s;
	std::vector<int> v(3);

	try {
		return s.area(v);
	} catch (const std::out_of_range &e) {
		return 1;
	}
}
