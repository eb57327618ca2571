/*
 * snapcat: join snapshots into one, extract processes of one, or save the
 * intact part of a damaged one.
 */
#include "common/common.h"

static struct sources sources;
static struct joining joining = { .from = &sources };

static const struct opt opts[] = {
	MOMENT_OPTION(sources),
	{ 'c', "cgroup", "group",
	    "live processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'e', "executable", "exe", "executable that produced the core files",
	    .word = &joining.exe },
	{ 'o', "output", "file", "write to file instead of standard output",
	    .outfile = &joining.path },
	{ 'p', "pid", "pid|name", "only this process; without file: a live one",
	    .source = sources_pick },
	{ 's', "salvage", NULL, "save the intact part of damaged files",
	    .flag = &joining.salvage },
	{ 'v', "verbose", NULL, "print what was written",
	    .flag = &joining.verbose },
	{ 'x', "exclude", "what", "leave out secrets, dontdump, "
	    "env=PATTERN, START-END", .exclude = &joining.exclude },
	{ 'z', "compress", NULL, "compress, as gzip(1) does",
	    .flag = &joining.compress },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Join snapshots, or extract processes from one.",
	.synopsis = (const char *const[]){
		"[-svz] [-@ moment] [-c group] [-e exe] [-o file]",
		"        [-p pid|name] [-x what] [file | pid | name ...]",
		NULL
	},
	.opts = opts,
	.sources = &sources
};

int
main(int argc, char *argv[])
{
	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	sources_operands(&sources, argv, SOURCES_FILES);
	sources_capture(&sources);
	return join_run(&joining);
}
