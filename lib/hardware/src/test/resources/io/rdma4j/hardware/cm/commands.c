/* Prints the bytes of commands, responses and events of the kernel's connection manager, one structure a line. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <infiniband/verbs.h>
#include <infiniband/sa.h>
#define _LINUX_IN6_H
#define _UAPI_LINUX_IN6_H
#include <rdma/rdma_user_cm.h>

static void print(const char *name, const void *bytes, size_t count) {
    printf("%s ", name);
    for (size_t i = 0; i < count; i++) {
        printf("%02x", ((const unsigned char *) bytes)[i]);
    }
    printf("\n");
}

/* A command with its header, as it is written. The address of the response is omitted. */
#define COMMAND(name, number, structure, answer) do { \
    struct { struct rdma_ucm_cmd_hdr header; typeof(structure) body; } whole; \
    memset(&whole, 0, sizeof whole); \
    whole.header.cmd = number; whole.header.in = sizeof(structure); whole.header.out = answer; \
    memcpy(&whole.body, &structure, sizeof(structure)); \
    print(name, &whole.header, sizeof(whole.header)); \
    print(name ".structure", &whole.body, sizeof(whole.body)); \
} while (0)

static void put4(void *to, const char *address, int port) {
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
    inet_pton(AF_INET, address, &in.sin_addr);
    memcpy(to, &in, sizeof in);
}

static void put6(void *to, const char *address, int port, int scope) {
    struct sockaddr_in6 in = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope };
    inet_pton(AF_INET6, address, &in.sin6_addr);
    memcpy(to, &in, sizeof in);
}

static struct rdma_ucm_conn_param parameters(void) {
    struct rdma_ucm_conn_param p = { .qp_num = 0x123456, .private_data = "abc", .private_data_len = 3, .srq = 1,
        .responder_resources = 5, .initiator_depth = 6, .flow_control = 1, .retry_count = 7, .rnr_retry_count = 4,
        .valid = 1 };
    return p;
}

static struct ib_uverbs_ah_attr path(void) {
    struct ib_uverbs_ah_attr a = { .grh = { .flow_label = 0x12345, .sgid_index = 3, .hop_limit = 64,
        .traffic_class = 32 }, .sl = 1, .static_rate = 5, .is_global = 1, .port_num = 2 };
    inet_pton(AF_INET6, "::ffff:192.0.2.9", a.grh.dgid);
    return a;
}

static void commands(void) {
    struct rdma_ucm_create_id create = { .uid = 0x1122334455667788, .ps = RDMA_PS_TCP, .qp_type = IBV_QPT_RC };
    COMMAND("create", RDMA_USER_CM_CMD_CREATE_ID, create, sizeof(struct rdma_ucm_create_id_resp));
    struct rdma_ucm_destroy_id destroy = { .id = 77 };
    COMMAND("destroy", RDMA_USER_CM_CMD_DESTROY_ID, destroy, sizeof(struct rdma_ucm_destroy_id_resp));
    struct rdma_ucm_destroy_id leave = { .id = 5 };
    COMMAND("leave", RDMA_USER_CM_CMD_LEAVE_MCAST, leave, sizeof(struct rdma_ucm_destroy_id_resp));
    struct rdma_ucm_bind bind = { .id = 77, .addr_size = sizeof(struct sockaddr_in6) };
    put6(&bind.addr, "fe80::1", 7174, 3);
    COMMAND("bind", RDMA_USER_CM_CMD_BIND, bind, 0);
    struct rdma_ucm_resolve_addr resolve = { .id = 77, .timeout_ms = 2000, .src_size = sizeof(struct sockaddr_in),
        .dst_size = sizeof(struct sockaddr_in) };
    put4(&resolve.src_addr, "192.0.2.1", 0);
    put4(&resolve.dst_addr, "192.0.2.9", 7174);
    COMMAND("resolve", RDMA_USER_CM_CMD_RESOLVE_ADDR, resolve, 0);
    struct rdma_ucm_resolve_route route = { .id = 77, .timeout_ms = 1 };
    COMMAND("route", RDMA_USER_CM_CMD_RESOLVE_ROUTE, route, 0);
    struct rdma_ucm_query query = { .id = 77, .option = RDMA_USER_CM_QUERY_ADDR };
    COMMAND("query", RDMA_USER_CM_CMD_QUERY, query, sizeof(struct rdma_ucm_query_addr_resp));
    struct rdma_ucm_connect connect = { .conn_param = parameters(), .id = 77, .ece = { 0xabcdef, 0x01020304 } };
    COMMAND("connect", RDMA_USER_CM_CMD_CONNECT, connect, 0);
    struct rdma_ucm_listen listen = { .id = 77, .backlog = 128 };
    COMMAND("listen", RDMA_USER_CM_CMD_LISTEN, listen, 0);
    struct rdma_ucm_accept accept = { .uid = 9, .conn_param = parameters(), .id = 77, .ece = { 0xabcdef, 0x01020304 } };
    COMMAND("accept", RDMA_USER_CM_CMD_ACCEPT, accept, 0);
    struct rdma_ucm_accept establish = { .id = 77 };
    COMMAND("establish", RDMA_USER_CM_CMD_ACCEPT, establish, 0);
    struct rdma_ucm_reject reject = { .id = 77, .private_data_len = 2, .reason = 28, .private_data = "no" };
    COMMAND("reject", RDMA_USER_CM_CMD_REJECT, reject, 0);
    struct rdma_ucm_disconnect disconnect = { .id = 77 };
    COMMAND("disconnect", RDMA_USER_CM_CMD_DISCONNECT, disconnect, 0);
    struct rdma_ucm_notify notify = { .id = 77, .event = IBV_EVENT_COMM_EST };
    COMMAND("notify", RDMA_USER_CM_CMD_NOTIFY, notify, 0);
    struct rdma_ucm_init_qp_attr attributes = { .id = 77, .qp_state = IBV_QPS_RTR };
    COMMAND("attributes", RDMA_USER_CM_CMD_INIT_QP_ATTR, attributes, sizeof(struct ib_uverbs_qp_attr));
    struct rdma_ucm_join_mcast join = { .uid = 10, .id = 77, .addr_size = sizeof(struct sockaddr_in),
        .join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER };
    put4(&join.addr, "239.1.2.3", 0);
    COMMAND("join", RDMA_USER_CM_CMD_JOIN_MCAST, join, sizeof(struct rdma_ucm_create_id_resp));
    struct rdma_ucm_set_option option = { .id = 77, .level = RDMA_OPTION_ID, .optname = RDMA_OPTION_ID_TOS, .optlen = 1 };
    COMMAND("tos", RDMA_USER_CM_CMD_SET_OPTION, option, 0);
    option.optname = RDMA_OPTION_ID_REUSEADDR;
    option.optlen = sizeof(int);
    COMMAND("reuse", RDMA_USER_CM_CMD_SET_OPTION, option, 0);
    option.optname = RDMA_OPTION_ID_AFONLY;
    COMMAND("afonly", RDMA_USER_CM_CMD_SET_OPTION, option, 0);
    option.optname = RDMA_OPTION_ID_ACK_TIMEOUT;
    option.optlen = 1;
    COMMAND("timeout", RDMA_USER_CM_CMD_SET_OPTION, option, 0);
    option.level = RDMA_OPTION_IB;
    option.optname = RDMA_OPTION_IB_PATH;
    option.optlen = sizeof(struct ibv_path_data);
    COMMAND("path", RDMA_USER_CM_CMD_SET_OPTION, option, 0);
    struct ibv_path_data data = { .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
        .path = { .flowlabel_hoplimit = htonl(0x12345 << 8 | 64), .tclass = 96, .reversible_numpath = 0x81,
            .pkey = htons(0xffff), .qosclass_sl = htons(3), .mtu = 2 << 6 | IBV_MTU_1024, .rate = 2 << 6,
            .packetlifetime = 2 << 6 | 18 } };
    inet_pton(AF_INET6, "::ffff:192.0.2.1", data.path.sgid.raw);
    inet_pton(AF_INET6, "::ffff:192.0.2.9", data.path.dgid.raw);
    print("path.value", &data, sizeof data);
}

static void answers(void) {
    struct rdma_ucm_query_addr_resp addresses = { .node_guid = htobe64(0x0211223344556677), .port_num = 2,
        .pkey = 0xffff, .src_size = sizeof(struct sockaddr_in6), .dst_size = sizeof(struct sockaddr_in6),
        .ibdev_index = 4 };
    put6(&addresses.src_addr, "fe80::1", 7174, 3);
    put6(&addresses.dst_addr, "2001:db8::9", 40000, 0);
    print("answer.addresses", &addresses, sizeof addresses);

    struct ib_uverbs_qp_attr attributes = { .qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
        | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | 1 << 21, .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024, .rq_psn = 0xfedcba, .dest_qp_num = 0x123456, .ah_attr = path(),
        .max_dest_rd_atomic = 16, .min_rnr_timer = 12, .qkey = 1, .timeout = 14 };
    print("answer.rtr", &attributes, sizeof attributes);
    struct ib_uverbs_qp_attr rts = { .qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
        | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, .qp_state = IBV_QPS_RTS, .sq_psn = 0xabcdef, .timeout = 14,
        .retry_cnt = 6, .rnr_retry = 5, .max_rd_atomic = 4 };
    print("answer.rts", &rts, sizeof rts);
    struct ib_uverbs_qp_attr init = { .qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY
        | IBV_QP_ACCESS_FLAGS, .qp_state = IBV_QPS_INIT, .pkey_index = 258, .port_num = 2, .qkey = 0x01234567,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
    print("answer.init", &init, sizeof init);
}

static void events(void) {
    struct rdma_ucm_event_resp request = { .uid = 0x1122334455667788, .id = 78, .event = 4, .ece = { 0xabcdef, 7 } };
    request.param.conn = parameters();
    print("event.request", &request, sizeof request);
    struct rdma_ucm_event_resp service = { .uid = 2, .id = 79, .event = 9 };
    service.param.ud.qp_num = 0x654321;
    service.param.ud.qkey = 0x01234567;
    service.param.ud.ah_attr = path();
    memcpy(service.param.ud.private_data, "hello", 5);
    service.param.ud.private_data_len = 5;
    print("event.service", &service, sizeof service);
    struct rdma_ucm_event_resp rejected = { .uid = 3, .id = 80, .event = 8, .status = 28 };
    print("event.rejected", &rejected, sizeof rejected);
    struct rdma_ucm_event_resp unreachable = { .uid = 3, .id = 80, .event = 7, .status = -110 };
    print("event.unreachable", &unreachable, sizeof unreachable);
}

int main(void) {
    commands();
    answers();
    events();
    return 0;
}
