/*
 * Protection domains, thread domains and parent domains. With the latter two, a driver learns which
 * objects only one thread uses, and can omit locks. Java's locks cost nothing in that case, so a
 * parent domain is just its protection domain.
 */
#define _GNU_SOURCE
#include "objects.h"

struct domain {
	struct ibv_pd ibv;
	/* The protection domain of a parent domain; NULL in a protection domain. */
	struct domain *parent;
	struct thread_domain *thread;
	int users;		/* parent domains; under users_lock, as in thread domains */
};

struct thread_domain {
	struct ibv_td ibv;
	int users;
};

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct domain *domain = calloc(1, sizeof(*domain));
	uint64_t arguments[] = { context_handle(context) };
	int error;

	if (!domain)
		return no_object(ENOMEM);
	error = bridge_call(BRIDGE_ALLOCATE_DOMAIN, arguments);
	if (error) {
		free(domain);
		return no_object(error);
	}
	domain->ibv.context = context;
	domain->ibv.handle = (uint32_t)arguments[0];
	return &domain->ibv;
}

static void count_users(struct domain *parent, struct thread_domain *thread, int change)
{
	pthread_mutex_lock(&users_lock);
	parent->users += change;
	if (thread)
		thread->users += change;
	pthread_mutex_unlock(&users_lock);
}

static int has_users(const int *users)
{
	int result;

	pthread_mutex_lock(&users_lock);
	result = *users > 0;
	pthread_mutex_unlock(&users_lock);
	return result;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct domain *domain = (struct domain *)pd;
	int error = 0;

	if (domain->parent)
		count_users(domain->parent, domain->thread, -1);
	else
		error = has_users(&domain->users) ? EBUSY : close_handle(pd->handle);
	if (!error)
		free(domain);
	return fail(error);
}

struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attributes)
{
	struct thread_domain *domain;

	if (attributes->comp_mask)
		return no_object(EINVAL);
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return no_object(ENOMEM);
	domain->ibv.context = context;
	return &domain->ibv;
}

int dealloc_td(struct ibv_td *td)
{
	struct thread_domain *domain = (struct thread_domain *)td;

	if (has_users(&domain->users))
		return fail(EBUSY);
	free(domain);
	return 0;
}

/* The allocators are for the memory of drivers. Java needs none. */
struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attributes)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	struct domain *domain;

	if (!attributes->pd || attributes->comp_mask & ~known || ((struct domain *)attributes->pd)->parent)
		return no_object(EINVAL);
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return no_object(ENOMEM);
	domain->ibv.context = context;
	domain->ibv.handle = attributes->pd->handle;
	domain->parent = (struct domain *)attributes->pd;
	domain->thread = (struct thread_domain *)attributes->td;
	count_users(domain->parent, domain->thread, 1);
	return &domain->ibv;
}
