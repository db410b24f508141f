/* Address handles, including the ones for replies to datagrams, and multicast groups. */
#define _GNU_SOURCE
#include <endian.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#include "objects.h"

/* An IPv4 header is at the end of the space for a global routing header. */
#define IPV4_OFFSET 20

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *handle = calloc(1, sizeof(*handle));
	uint64_t arguments[] = { pd->handle, (uintptr_t)attr };
	int error;

	if (!handle)
		return no_object(ENOMEM);
	error = bridge_call(BRIDGE_CREATE_ADDRESS_HANDLE, arguments);
	if (error) {
		free(handle);
		return no_object(error);
	}
	*handle = (struct ibv_ah){ .context = pd->context, .pd = pd, .handle = (uint32_t)arguments[0] };
	return handle;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	int error = close_handle(ah->handle);

	if (!error)
		free(ah);
	return fail(error);
}

/* For an IPv4 header without options. */
static int has_valid_checksum(const struct iphdr *header)
{
	uint16_t words[sizeof(*header) / 2];
	uint32_t sum = 0;

	memcpy(words, header, sizeof(*header));
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* Bytes of an IPv6 header can look like an IPv4 header, hence the checksum. */
static int is_ipv4(const struct ibv_grh *header, const struct iphdr *ipv4)
{
	if (be32toh(header->version_tclass_flow) >> 28 != 6)
		return ipv4->version == 4;
	return ipv4->version == 4 && ipv4->ihl == 5 && has_valid_checksum(ipv4);
}

static union ibv_gid mapped_gid(uint32_t ipv4_address)
{
	union ibv_gid gid = { { [10] = 0xff, [11] = 0xff } };

	memcpy(gid.raw + 12, &ipv4_address, sizeof(ipv4_address));
	return gid;
}

/* Returns the index of a RoCEv2 GID in the table of a port, or -1. */
static int find_gid(struct ibv_context *context, uint8_t port, const union ibv_gid *wanted)
{
	union ibv_gid gid;

	for (int index = 0; !ibv_query_gid(context, port, index, &gid); index++) {
		int type;

		if (!memcmp(&gid, wanted, sizeof(gid)) && !query_gid_type(context, port, index, &type) && type)
			return index;
	}
	return -1;
}

/* The reply goes to the sender of the datagram, from the address to which it was sent. */
static int fill_route(struct ibv_context *context, uint8_t port, struct ibv_grh *header, struct ibv_global_route *route)
{
	struct iphdr ipv4;
	union ibv_gid receiver;
	int index;

	memcpy(&ipv4, (char *)header + IPV4_OFFSET, sizeof(ipv4));
	if (is_ipv4(header, &ipv4)) {
		route->dgid = mapped_gid(ipv4.saddr);
		receiver = mapped_gid(ipv4.daddr);
		route->hop_limit = ipv4.ttl;
		route->traffic_class = ipv4.tos;
	} else if (be32toh(header->version_tclass_flow) >> 28 == 6 && header->next_hdr == IPPROTO_UDP) {
		route->dgid = header->sgid;
		receiver = header->dgid;
		route->hop_limit = header->hop_limit;
		route->traffic_class = (uint8_t)(be32toh(header->version_tclass_flow) >> 20);
		route->flow_label = be32toh(header->version_tclass_flow) & 0xfffff;
	} else {
		return EPROTONOSUPPORT;
	}
	/* Only the program can choose the source address of a reply to a multicast datagram. */
	index = find_gid(context, port, &receiver);
	if (index < 0)
		return EINVAL;
	route->sgid_index = (uint8_t)index;
	return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *ah_attr)
{
	int error;

	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->dlid = wc->slid;
	ah_attr->sl = wc->sl;
	ah_attr->src_path_bits = wc->dlid_path_bits;
	ah_attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	ah_attr->is_global = 1;
	error = fill_route(context, port_num, grh, &ah_attr->grh);
	if (error) {
		errno = error;
		return -1;
	}
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attributes;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attributes))
		return NULL;
	return ibv_create_ah(pd, &attributes);
}

static int change_group(struct ibv_qp *queue_pair, const union ibv_gid *group, int attach)
{
	uint64_t arguments[] = { queue_pair->handle, (uintptr_t)group, attach };

	return fail(bridge_call(BRIDGE_ATTACH_MULTICAST, arguments));
}

/* RoCE has no LIDs. */

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)lid;
	return change_group(qp, gid, 1);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)lid;
	return change_group(qp, gid, 0);
}
