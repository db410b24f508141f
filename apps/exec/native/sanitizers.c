/*
 * Settings for programs compiled with a sanitizer: its runtime calls functions with these names. A
 * function of the program and the variables ASAN_OPTIONS, LSAN_OPTIONS and TSAN_OPTIONS take
 * precedence.
 */
#include "library.h"

/*
 * This library comes first in LD_PRELOAD. The leak check would read all memory of Java, parts of
 * which are not readable.
 */
PUBLIC const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0:detect_leaks=0";
}

PUBLIC const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

/* Java synchronizes its threads with instructions that the runtime does not see. */
PUBLIC const char *__tsan_default_options(void)
{
	return "ignore_noninstrumented_modules=1";
}
