package io.rdma4j.exec.bridge;

/** The numbers of the control operations. {@code enum bridge_operation} in {@code bridge.h} documents them. */
public final class Operation {
    /** {@code BRIDGE_DEVICE_COUNT}. */
    public static final int DEVICE_COUNT = 0;

    /** {@code BRIDGE_DEVICE}. */
    public static final int DEVICE = 1;

    /** {@code BRIDGE_OPEN_DEVICE}. */
    public static final int OPEN_DEVICE = 2;

    /** {@code BRIDGE_CLOSE}. */
    public static final int CLOSE = 3;

    /** {@code BRIDGE_QUERY_DEVICE}. */
    public static final int QUERY_DEVICE = 4;

    /** {@code BRIDGE_QUERY_PORT}. */
    public static final int QUERY_PORT = 5;

    /** {@code BRIDGE_QUERY_GID}. */
    public static final int QUERY_GID = 6;

    /** {@code BRIDGE_QUERY_PKEY}. */
    public static final int QUERY_PKEY = 7;

    /** {@code BRIDGE_NEXT_ASYNC_EVENT}. */
    public static final int NEXT_ASYNC_EVENT = 8;

    /** {@code BRIDGE_ACK_ASYNC_EVENT}. */
    public static final int ACK_ASYNC_EVENT = 9;

    /** {@code BRIDGE_ALLOCATE_DOMAIN}. */
    public static final int ALLOCATE_DOMAIN = 10;

    /** {@code BRIDGE_REGISTER}. */
    public static final int REGISTER = 11;

    /** {@code BRIDGE_REREGISTER}. */
    public static final int REREGISTER = 12;

    /** {@code BRIDGE_ADVISE}. */
    public static final int ADVISE = 13;

    /** {@code BRIDGE_ALLOCATE_WINDOW}. */
    public static final int ALLOCATE_WINDOW = 14;

    /** {@code BRIDGE_OPEN_XRC_DOMAIN}. */
    public static final int OPEN_XRC_DOMAIN = 15;

    /** {@code BRIDGE_CREATE_ADDRESS_HANDLE}. */
    public static final int CREATE_ADDRESS_HANDLE = 16;

    /** {@code BRIDGE_SET_ACCESSIBLE}. */
    public static final int SET_ACCESSIBLE = 17;

    /** {@code BRIDGE_CREATE_CHANNEL}. */
    public static final int CREATE_CHANNEL = 20;

    /** {@code BRIDGE_NEXT_CHANNEL_EVENT}. */
    public static final int NEXT_CHANNEL_EVENT = 21;

    /** {@code BRIDGE_CREATE_CQ}. */
    public static final int CREATE_CQ = 22;

    /** {@code BRIDGE_RESIZE_CQ}. */
    public static final int RESIZE_CQ = 23;

    /** {@code BRIDGE_ACK_CQ_EVENTS}. */
    public static final int ACK_CQ_EVENTS = 24;

    /** {@code BRIDGE_WALL_CLOCK}. */
    public static final int WALL_CLOCK = 25;

    /** {@code BRIDGE_CREATE_QP}. */
    public static final int CREATE_QP = 30;

    /** {@code BRIDGE_MODIFY_QP}. */
    public static final int MODIFY_QP = 31;

    /** {@code BRIDGE_QUERY_QP}. */
    public static final int QUERY_QP = 32;

    /** {@code BRIDGE_ATTACH_MULTICAST}. */
    public static final int ATTACH_MULTICAST = 33;

    /** {@code BRIDGE_SET_RATE_LIMIT}. */
    public static final int SET_RATE_LIMIT = 34;

    /** {@code BRIDGE_CREATE_SRQ}. */
    public static final int CREATE_SRQ = 40;

    /** {@code BRIDGE_MODIFY_SRQ}. */
    public static final int MODIFY_SRQ = 41;

    /** {@code BRIDGE_QUERY_SRQ}. */
    public static final int QUERY_SRQ = 42;

    /** {@code BRIDGE_CM_OPEN}. */
    public static final int CM_OPEN = 50;

    /** {@code BRIDGE_CM_WRITE}. */
    public static final int CM_WRITE = 51;

    /** {@code BRIDGE_CM_CLOSE}. */
    public static final int CM_CLOSE = 52;

    /** {@code BRIDGE_FINISH}. */
    public static final int FINISH = 60;

    private Operation() {}
}
