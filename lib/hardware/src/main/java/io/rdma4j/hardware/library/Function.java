package io.rdma4j.hardware.library;

/** The functions that libibverbs exports. The functions that are inline in C are pointers in a context. */
public enum Function {
    GET_DEVICE_LIST("ibv_get_device_list"),
    FREE_DEVICE_LIST("ibv_free_device_list"),
    GET_DEVICE_GUID("ibv_get_device_guid"),
    GET_DEVICE_INDEX("ibv_get_device_index"),
    GET_DEVICE_NAME("ibv_get_device_name"),
    OPEN_DEVICE("ibv_open_device"),
    CLOSE_DEVICE("ibv_close_device"),
    QUERY_DEVICE("ibv_query_device"),
    QUERY_PORT("ibv_query_port"),
    QUERY_GID_TABLE("_ibv_query_gid_table"),
    QUERY_PARTITION_KEY("ibv_query_pkey"),
    GET_PARTITION_KEY_INDEX("ibv_get_pkey_index"),
    GET_ASYNC_EVENT("ibv_get_async_event"),
    ACKNOWLEDGE_ASYNC_EVENT("ibv_ack_async_event"),
    ALLOCATE_PROTECTION_DOMAIN("ibv_alloc_pd"),
    FREE_PROTECTION_DOMAIN("ibv_dealloc_pd"),
    REGISTER("ibv_reg_mr_iova2"),
    REREGISTER("ibv_rereg_mr"),
    DEREGISTER("ibv_dereg_mr"),
    CREATE_CHANNEL("ibv_create_comp_channel"),
    DESTROY_CHANNEL("ibv_destroy_comp_channel"),
    CREATE_COMPLETION_QUEUE("ibv_create_cq"),
    RESIZE_COMPLETION_QUEUE("ibv_resize_cq"),
    DESTROY_COMPLETION_QUEUE("ibv_destroy_cq"),
    GET_COMPLETION_EVENT("ibv_get_cq_event"),
    ACKNOWLEDGE_COMPLETION_EVENTS("ibv_ack_cq_events"),
    CREATE_SHARED_RECEIVE_QUEUE("ibv_create_srq"),
    MODIFY_SHARED_RECEIVE_QUEUE("ibv_modify_srq"),
    QUERY_SHARED_RECEIVE_QUEUE("ibv_query_srq"),
    DESTROY_SHARED_RECEIVE_QUEUE("ibv_destroy_srq"),
    CREATE_QUEUE_PAIR("ibv_create_qp"),
    MODIFY_QUEUE_PAIR("ibv_modify_qp"),
    QUERY_QUEUE_PAIR("ibv_query_qp"),
    DESTROY_QUEUE_PAIR("ibv_destroy_qp"),
    CREATE_ADDRESS_HANDLE("ibv_create_ah"),
    DESTROY_ADDRESS_HANDLE("ibv_destroy_ah"),
    ATTACH_MULTICAST("ibv_attach_mcast"),
    DETACH_MULTICAST("ibv_detach_mcast"),
    FORK_INIT("ibv_fork_init");

    private final String symbol;

    Function(String symbol) {
        this.symbol = symbol;
    }

    /** Returns the C name. */
    public String symbol() {
        return symbol;
    }
}
