/*
 * Access to memory of the program. A network card pins registered memory. Here the program may
 * unmap or protect it at any time, also with free, which calls no function that could be
 * interposed. An access that faults returns an error: the handler in signals.c calls leave_access.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "bridge.h"
#include "library.h"

/*
 * The access that a thread is executing: where it continues after a fault, and which bytes may
 * fault. The compiler's builtins take a third of the time of setjmp, which matters for small
 * copies.
 */
struct access {
	void *after_fault[5];
	uintptr_t to;
	uintptr_t from;
	size_t bytes;
};

/* The width of a program's addresses, unless it requests larger ones. */
#define ADDRESS_BITS 47

static __thread struct access *volatile running __attribute__((tls_model("initial-exec")));

static int is_within(uintptr_t address, uintptr_t start, size_t bytes)
{
	return address - start < bytes;
}

/*
 * Returns whether a range reaches beyond the addresses of programs. The processor does not report
 * the address in that case.
 */
static int is_beyond(uintptr_t start, size_t bytes)
{
	return (start | (start + bytes)) >= (uintptr_t)1 << ADDRESS_BITS;
}

static int is_caused_by(const struct access *access, const siginfo_t *info)
{
	uintptr_t address = (uintptr_t)info->si_addr;

	if (info->si_code == SI_KERNEL)
		return is_beyond(access->to, access->bytes) || is_beyond(access->from, access->bytes);
	return info->si_code > 0 &&
	       (is_within(address, access->to, access->bytes) || is_within(address, access->from, access->bytes));
}

void leave_access(const siginfo_t *info, void *context)
{
	struct access *access = running;

	if (!access || !is_caused_by(access, info))
		return;
	running = NULL;
	pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
	__builtin_longjmp(access->after_fault, 1);
}

/* Executes an operation on eight bytes with an address that is a multiple of eight. */
static void change(uint64_t *target, enum access_operation operation, struct access_operands *operands)
{
	uint64_t original = operands->compare;

	switch (operation) {
	case ACCESS_SWAP:
		__atomic_compare_exchange_n(target, &original, operands->value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		operands->original = original;
		break;
	case ACCESS_ADD:
		operands->original = __atomic_fetch_add(target, operands->value, __ATOMIC_SEQ_CST);
		break;
	default:
		__atomic_store_n(target, operands->value, __ATOMIC_SEQ_CST);
		break;
	}
}

/*
 * The same for other addresses, for which the processor has no such instruction. The caller
 * excludes other operations.
 */
static void change_unaligned(void *target, enum access_operation operation, struct access_operands *operands)
{
	uint64_t original, value = operands->value;

	memcpy(&original, target, sizeof(original));
	if (operation == ACCESS_ADD)
		value += original;
	if (operation != ACCESS_SWAP || original == operands->compare)
		memcpy(target, &value, sizeof(value));
	operands->original = original;
}

int64_t access_memory(int64_t operation, void *to, void *from, int64_t bytes)
{
	struct access access = { .to = (uintptr_t)to, .from = (uintptr_t)from, .bytes = (size_t)bytes };

	if (__builtin_setjmp(access.after_fault))
		return -1;
	running = &access;
	/* The access must stay between the two assignments to running. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (operation == ACCESS_COPY)
		memmove(to, from, (size_t)bytes);
	else if ((uintptr_t)to % sizeof(uint64_t))
		change_unaligned(to, (enum access_operation)operation, from);
	else
		change(to, (enum access_operation)operation, from);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	running = NULL;
	return 0;
}
