/* For the tests: the attributes of a reliable connection to a queue pair of the same device. */
#ifndef RDMA4J_TEST_CONNECTION_H
#define RDMA4J_TEST_CONNECTION_H

#include "verbs_abi.h"

/* Bits of enum ibv_qp_attr_mask. */
enum {
	ACCESS = 1 << 3, PKEY_INDEX = 1 << 4, PORT = 1 << 5, PATH = 1 << 7, MTU = 1 << 8, TIMEOUT = 1 << 9, RETRIES = 1 << 10,
	RNR_RETRIES = 1 << 11, RECEIVE_PSN = 1 << 12, READS = 1 << 13, RNR_TIMER = 1 << 15, SEND_PSN = 1 << 16, TARGET_READS = 1 << 17,
	PEER = 1 << 20,
};

/* The attributes of all states up to ready to send. The state itself is INIT. */
static inline struct ibv_qp_attr connection_attributes(uint32_t peer, union ibv_gid gid, int gid_index)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.ah_attr = { .grh = { .dgid = gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64 }, .is_global = 1, .port_num = 1 },
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
}

#endif
