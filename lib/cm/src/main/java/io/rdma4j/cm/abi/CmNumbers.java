package io.rdma4j.cm.abi;

import io.rdma4j.verbs.abi.CName;

/** The numbers of the kernel's connection manager: commands, options and flags. */
public final class CmNumbers {
    @CName("RDMA_USER_CM_CMD_CREATE_ID")
    public static final int CREATE_ID = 0;

    @CName("RDMA_USER_CM_CMD_DESTROY_ID")
    public static final int DESTROY_ID = 1;

    @CName("RDMA_USER_CM_CMD_BIND_IP")
    public static final int BIND_IP = 2;

    @CName("RDMA_USER_CM_CMD_RESOLVE_IP")
    public static final int RESOLVE_IP = 3;

    @CName("RDMA_USER_CM_CMD_RESOLVE_ROUTE")
    public static final int RESOLVE_ROUTE = 4;

    @CName("RDMA_USER_CM_CMD_QUERY_ROUTE")
    public static final int QUERY_ROUTE = 5;

    @CName("RDMA_USER_CM_CMD_CONNECT")
    public static final int CONNECT = 6;

    @CName("RDMA_USER_CM_CMD_LISTEN")
    public static final int LISTEN = 7;

    @CName("RDMA_USER_CM_CMD_ACCEPT")
    public static final int ACCEPT = 8;

    @CName("RDMA_USER_CM_CMD_REJECT")
    public static final int REJECT = 9;

    @CName("RDMA_USER_CM_CMD_DISCONNECT")
    public static final int DISCONNECT = 10;

    @CName("RDMA_USER_CM_CMD_INIT_QP_ATTR")
    public static final int INITIALIZE_ATTRIBUTES = 11;

    @CName("RDMA_USER_CM_CMD_GET_EVENT")
    public static final int GET_EVENT = 12;

    @CName("RDMA_USER_CM_CMD_GET_OPTION")
    public static final int GET_OPTION = 13;

    @CName("RDMA_USER_CM_CMD_SET_OPTION")
    public static final int SET_OPTION = 14;

    @CName("RDMA_USER_CM_CMD_NOTIFY")
    public static final int NOTIFY = 15;

    @CName("RDMA_USER_CM_CMD_JOIN_IP_MCAST")
    public static final int JOIN_IP_GROUP = 16;

    @CName("RDMA_USER_CM_CMD_LEAVE_MCAST")
    public static final int LEAVE_GROUP = 17;

    @CName("RDMA_USER_CM_CMD_MIGRATE_ID")
    public static final int MIGRATE_ID = 18;

    @CName("RDMA_USER_CM_CMD_QUERY")
    public static final int QUERY = 19;

    @CName("RDMA_USER_CM_CMD_BIND")
    public static final int BIND = 20;

    @CName("RDMA_USER_CM_CMD_RESOLVE_ADDR")
    public static final int RESOLVE_ADDRESS = 21;

    @CName("RDMA_USER_CM_CMD_JOIN_MCAST")
    public static final int JOIN_GROUP = 22;

    @CName("RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE") // in header files of 2025 and newer
    public static final int RESOLVE_SERVICE = 23;

    @CName("RDMA_USER_CM_CMD_WRITE_CM_EVENT") // in header files of 2025 and newer
    public static final int WRITE_EVENT = 24;

    @CName("RDMA_USER_CM_ABI_VERSION")
    public static final int ABI_VERSION = 4;

    @CName("RDMA_USER_CM_QUERY_ADDR")
    public static final int QUERY_ADDRESSES = 0;

    @CName("RDMA_USER_CM_QUERY_PATH")
    public static final int QUERY_PATHS = 1;

    @CName("RDMA_USER_CM_QUERY_GID")
    public static final int QUERY_GIDS = 2;

    @CName("RDMA_USER_CM_QUERY_IB_SERVICE") // in header files of 2025 and newer
    public static final int QUERY_SERVICES = 3;

    @CName("RDMA_OPTION_ID")
    public static final int LEVEL_ID = 0;

    @CName("RDMA_OPTION_IB")
    public static final int LEVEL_PATH = 1;

    @CName("RDMA_OPTION_ID_TOS")
    public static final int OPTION_TYPE_OF_SERVICE = 0;

    @CName("RDMA_OPTION_ID_REUSEADDR")
    public static final int OPTION_REUSE_ADDRESS = 1;

    @CName("RDMA_OPTION_ID_AFONLY")
    public static final int OPTION_FAMILY_ONLY = 2;

    @CName("RDMA_OPTION_ID_ACK_TIMEOUT")
    public static final int OPTION_ACK_TIMEOUT = 3;

    @CName("RDMA_OPTION_IB_PATH")
    public static final int OPTION_PATH = 1;

    @CName("IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL")
    public static final int PATH_FLAGS = 43;

    @CName("IBV_EVENT_COMM_EST")
    public static final int COMMUNICATION_ESTABLISHED = 4;

    private CmNumbers() {}
}
