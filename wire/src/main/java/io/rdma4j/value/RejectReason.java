package io.rdma4j.value;

import java.util.Locale;
import java.util.Set;

/**
 * The reason for which a connection was rejected: the positive status of a {@link CmEvent.Type#REJECTED} event. Source:
 * InfiniBand Architecture volume 1, table 109 (12.6.7.2); C: {@code enum ib_cm_rej_reason}.
 */
public enum RejectReason {
    /** No queue pair is available. */
    NO_QUEUE_PAIR(1),
    /** No end-to-end context is available. */
    NO_END_TO_END_CONTEXT(2),
    /** No resources are available. */
    NO_RESOURCES(3),
    /** The peer's timeout elapsed. */
    TIMEOUT(4),
    /** The request is not supported. */
    UNSUPPORTED_REQUEST(5),
    /** Unknown communication ID. */
    INVALID_COMMUNICATION_ID(6),
    /** Wrong communication instance. */
    INVALID_COMMUNICATION_INSTANCE(7),
    /** No service listens on the service ID. */
    INVALID_SERVICE_ID(8),
    /** The listener serves another transport type. */
    INVALID_TRANSPORT_TYPE(9),
    /** The peer still has an older connection of this queue pair. */
    STALE_CONNECTION(10),
    /** The reliable datagram channel does not exist. */
    RDC_DOES_NOT_EXIST(11),
    /** The GID is not acceptable. */
    INVALID_GID(12),
    /** The local identifier is not acceptable. */
    INVALID_LID(13),
    /** The service level is not acceptable. */
    INVALID_SERVICE_LEVEL(14),
    /** The traffic class is not acceptable. */
    INVALID_TRAFFIC_CLASS(15),
    /** The hop limit is not acceptable. */
    INVALID_HOP_LIMIT(16),
    /** The packet rate is not acceptable. */
    INVALID_PACKET_RATE(17),
    /** The GID of the alternate path is not acceptable. */
    INVALID_ALTERNATE_GID(18),
    /** The local identifier of the alternate path is not acceptable. */
    INVALID_ALTERNATE_LID(19),
    /** The service level of the alternate path is not acceptable. */
    INVALID_ALTERNATE_SERVICE_LEVEL(20),
    /** The traffic class of the alternate path is not acceptable. */
    INVALID_ALTERNATE_TRAFFIC_CLASS(21),
    /** The hop limit of the alternate path is not acceptable. */
    INVALID_ALTERNATE_HOP_LIMIT(22),
    /** The packet rate of the alternate path is not acceptable. */
    INVALID_ALTERNATE_PACKET_RATE(23),
    /** The request is redirected to another port and communication manager. */
    PORT_AND_CM_REDIRECTION(24),
    /** The request is redirected to another port. */
    PORT_REDIRECTION(25),
    /** The path MTU is not acceptable. */
    INVALID_PATH_MTU(26),
    /** The responder resources are fewer than requested. */
    INSUFFICIENT_RESPONDER_RESOURCES(27),
    /** The application rejected the connection. */
    CONSUMER_DEFINED(28),
    /** The receiver-not-ready retry count is not acceptable. */
    INVALID_RNR_RETRY(29),
    /** The local communication ID is already in use. */
    DUPLICATE_LOCAL_COMMUNICATION_ID(30),
    /** The class version is not supported. */
    INVALID_CLASS_VERSION(31),
    /** The flow label is not acceptable. */
    INVALID_FLOW_LABEL(32),
    /** The flow label of the alternate path is not acceptable. */
    INVALID_ALTERNATE_FLOW_LABEL(33),
    /** A vendor option is not supported. */
    VENDOR_OPTION_NOT_SUPPORTED(35);

    private static final Set<String> ABBREVIATIONS = Set.of("CM", "GID", "ID", "LID", "MTU", "RDC", "RNR");

    private final int code;

    RejectReason(int code) {
        this.code = code;
    }

    /** Returns the number on the wire. */
    public int code() {
        return code;
    }

    /**
     * Returns a short description with the number, such as {@code "invalid service ID (8)"}. Numbers without a constant
     * are described too.
     */
    public static String text(int code) {
        for (RejectReason reason : values()) {
            if (reason.code == code) {
                return reason.words() + " (" + code + ")";
            }
        }
        return "reason " + code;
    }

    private String words() {
        StringBuilder text = new StringBuilder();
        for (String word : name().split("_", -1)) {
            text.append(text.isEmpty() ? "" : " ");
            text.append(ABBREVIATIONS.contains(word) ? word : word.toLowerCase(Locale.ROOT));
        }
        return text.toString();
    }
}
