/*
 * Settings for programs that are compiled with a sanitizer, whose runtime asks for them by these names. A function of the program and
 * the variables ASAN_OPTIONS, LSAN_OPTIONS and TSAN_OPTIONS have precedence.
 */
#include "library.h"

/* This library comes first in LD_PRELOAD. The search for leaks would read all memory of Java, of which parts cannot be read. */
PUBLIC const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0:detect_leaks=0";
}

PUBLIC const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

/* Java synchronizes its threads by instructions that the runtime does not see. */
PUBLIC const char *__tsan_default_options(void)
{
	return "ignore_noninstrumented_modules=1";
}
