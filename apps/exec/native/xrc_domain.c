/*
 * XRC domains. A program identifies a domain by a file: everyone who opens the same file shares the
 * domain. This works within a process; sharing between processes needs the kernel.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "objects.h"

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct xrc_domain *by_file;

void xrc_domains_before_fork(void)
{
	pthread_mutex_lock(&files_lock);
}

void xrc_domains_after_fork(void)
{
	pthread_mutex_unlock(&files_lock);
}

static struct xrc_domain *find_same(const struct xrc_domain *domain)
{
	for (struct xrc_domain *each = by_file; each; each = each->next) {
		if (each != domain && each->file_device == domain->file_device && each->file_number == domain->file_number &&
		    each->ibv.context == domain->ibv.context)
			return each;
	}
	return NULL;
}

static int open_in_java(struct xrc_domain *domain)
{
	uint64_t arguments[] = { context_handle(domain->ibv.context) };
	int error = bridge_call(BRIDGE_OPEN_XRC_DOMAIN, arguments);

	domain->handle = (int)arguments[0];
	return error;
}

static int open_by_file(struct xrc_domain *domain, int file, int flags)
{
	struct xrc_domain *same;
	struct stat status;
	int error = 0;

	if (fstat(file, &status))
		return errno;
	domain->file_device = status.st_dev;
	domain->file_number = status.st_ino;
	pthread_mutex_lock(&files_lock);
	same = find_same(domain);
	if (same && flags & O_EXCL)
		error = EINVAL;
	else if (same)
		domain->handle = same->handle;
	else
		error = flags & O_CREAT ? open_in_java(domain) : EINVAL;
	if (!error) {
		domain->next = by_file;
		by_file = domain;
	}
	pthread_mutex_unlock(&files_lock);
	return error;
}

struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attributes)
{
	const uint32_t required = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct xrc_domain *domain;
	int error;

	if (attributes->comp_mask & ~required)
		return no_object(EOPNOTSUPP);
	if (attributes->comp_mask != required)
		return no_object(EINVAL);
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return no_object(ENOMEM);
	domain->ibv.context = context;
	if (attributes->fd != -1)
		error = open_by_file(domain, attributes->fd, attributes->oflags);
	else
		error = open_in_java(domain);
	if (error) {
		free(domain);
		return no_object(error);
	}
	return &domain->ibv;
}

static void forget_file(struct xrc_domain *domain)
{
	for (struct xrc_domain **each = &by_file; *each; each = &(*each)->next) {
		if (*each == domain) {
			*each = domain->next;
			return;
		}
	}
}

int close_xrcd(struct ibv_xrcd *ibv)
{
	struct xrc_domain *domain = (struct xrc_domain *)ibv;
	int error = 0;

	pthread_mutex_lock(&files_lock);
	/* Domains without a file have the number 0, which no file has, and are not in the list. */
	if (!domain->file_number || !find_same(domain))
		error = close_handle(domain->handle);
	if (!error)
		forget_file(domain);
	pthread_mutex_unlock(&files_lock);
	if (!error)
		free(domain);
	return fail(error);
}
