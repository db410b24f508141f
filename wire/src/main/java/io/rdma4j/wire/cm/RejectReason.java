package io.rdma4j.wire.cm;

import org.jspecify.annotations.Nullable;

/**
 * The reason of a {@link Rej}. Linux sends 4, 8, 10, 12, 18 and 28 by itself, and others if an application chooses
 * them. Source: InfiniBand Architecture volume 1, 12.6.7.2, table 109. C counterpart: the {@code status} of an
 * {@code RDMA_CM_EVENT_REJECTED} event.
 */
public enum RejectReason {
    /** No QP available. */
    NO_QUEUE_PAIR(1, "no QP available"),
    /** No EE context available. */
    NO_END_TO_END_CONTEXT(2, "no EE context available"),
    /** No resources available. */
    NO_RESOURCES(3, "no resources available"),
    /** Timeout. */
    TIMEOUT(4, "timeout"),
    /** Unsupported request. */
    UNSUPPORTED_REQUEST(5, "unsupported request"),
    /** Invalid communication ID. */
    INVALID_COMMUNICATION_ID(6, "invalid communication ID"),
    /** Invalid communication instance. */
    INVALID_COMMUNICATION_INSTANCE(7, "invalid communication instance"),
    /** Invalid service ID: no listener. */
    INVALID_SERVICE_ID(8, "invalid service ID: no listener"),
    /** Invalid transport service type. */
    INVALID_TRANSPORT_SERVICE_TYPE(9, "invalid transport service type"),
    /** Stale connection. */
    STALE_CONNECTION(10, "stale connection"),
    /** RDC does not exist. */
    RDC_DOES_NOT_EXIST(11, "RDC does not exist"),
    /** Invalid primary remote port GID. */
    INVALID_PRIMARY_GID(12, "invalid primary remote port GID"),
    /** Invalid primary remote port LID. */
    INVALID_PRIMARY_LID(13, "invalid primary remote port LID"),
    /** Invalid primary SL. */
    INVALID_PRIMARY_SERVICE_LEVEL(14, "invalid primary SL"),
    /** Invalid primary traffic class. */
    INVALID_PRIMARY_TRAFFIC_CLASS(15, "invalid primary traffic class"),
    /** Invalid primary hop limit. */
    INVALID_PRIMARY_HOP_LIMIT(16, "invalid primary hop limit"),
    /** Invalid primary packet rate. */
    INVALID_PRIMARY_PACKET_RATE(17, "invalid primary packet rate"),
    /** Invalid alternate remote port GID. */
    INVALID_ALTERNATE_GID(18, "invalid alternate remote port GID"),
    /** Invalid alternate remote port LID. */
    INVALID_ALTERNATE_LID(19, "invalid alternate remote port LID"),
    /** Invalid alternate SL. */
    INVALID_ALTERNATE_SERVICE_LEVEL(20, "invalid alternate SL"),
    /** Invalid alternate traffic class. */
    INVALID_ALTERNATE_TRAFFIC_CLASS(21, "invalid alternate traffic class"),
    /** Invalid alternate hop limit. */
    INVALID_ALTERNATE_HOP_LIMIT(22, "invalid alternate hop limit"),
    /** Invalid alternate packet rate. */
    INVALID_ALTERNATE_PACKET_RATE(23, "invalid alternate packet rate"),
    /** Port and CM redirection. */
    PORT_AND_CM_REDIRECT(24, "port and CM redirection"),
    /** Port redirection. */
    PORT_REDIRECT(25, "port redirection"),
    /** Invalid path MTU. */
    INVALID_PATH_MTU(26, "invalid path MTU"),
    /** Insufficient responder resources. */
    INSUFFICIENT_RESPONDER_RESOURCES(27, "insufficient responder resources"),
    /** Consumer reject: the application rejected the connection. */
    CONSUMER_DEFINED(28, "consumer reject: the application rejected the connection"),
    /** RNR retry count rejected. */
    INVALID_RNR_RETRY(29, "RNR retry count rejected"),
    /** Duplicate local communication ID. */
    DUPLICATE_LOCAL_COMMUNICATION_ID(30, "duplicate local communication ID"),
    /** Invalid class version. */
    INVALID_CLASS_VERSION(31, "invalid class version"),
    /** Invalid primary flow label. */
    INVALID_PRIMARY_FLOW_LABEL(32, "invalid primary flow label"),
    /** Invalid alternate flow label. */
    INVALID_ALTERNATE_FLOW_LABEL(33, "invalid alternate flow label"),
    /** Vendor option not supported. */
    VENDOR_OPTION_NOT_SUPPORTED(35, "vendor option not supported");

    private static final @Nullable RejectReason[] BY_NUMBER =
            new @Nullable RejectReason[VENDOR_OPTION_NOT_SUPPORTED.number + 1];

    static {
        for (RejectReason reason : values()) {
            BY_NUMBER[reason.number] = reason;
        }
    }

    private final int number;
    private final String meaning;

    RejectReason(int number, String meaning) {
        this.number = number;
        this.meaning = meaning;
    }

    /** Returns the reason with this number, or null if there is none. */
    public static @Nullable RejectReason of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }

    /** Returns the number and the meaning of a reason, known or not: {@code "8 (invalid service ID: no listener)"}. */
    public static String describe(int number) {
        RejectReason reason = of(number);
        return number + " (" + (reason == null ? "reserved reason" : reason.meaning) + ")";
    }

    /** Returns the number on the wire. */
    public int number() {
        return number;
    }

    /** Returns a short description of the reason. */
    public String meaning() {
        return meaning;
    }
}
