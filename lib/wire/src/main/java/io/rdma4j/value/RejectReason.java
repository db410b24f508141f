package io.rdma4j.value;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The reason for which a connection was rejected: the positive status of a {@code REJECTED} event. Linux sends 4, 8, 10, 12, 18
 * and 28 by itself, and others if an application chooses them. Source: InfiniBand Architecture volume 1, table 109 (12.6.7.2); C:
 * {@code enum ib_cm_rej_reason}.
 */
public enum RejectReason {
    /** No queue pair is available. */
    NO_QUEUE_PAIR(1, "no QP available"),
    /** No end-to-end context is available. */
    NO_END_TO_END_CONTEXT(2, "no EE context available"),
    /** No resources are available. */
    NO_RESOURCES(3, "no resources available"),
    /** The peer's timeout elapsed. */
    TIMEOUT(4, "timeout"),
    /** The request is not supported. */
    UNSUPPORTED_REQUEST(5, "unsupported request"),
    /** Unknown communication ID. */
    INVALID_COMMUNICATION_ID(6, "invalid communication ID"),
    /** Wrong communication instance. */
    INVALID_COMMUNICATION_INSTANCE(7, "invalid communication instance"),
    /** No service listens on the service ID. */
    INVALID_SERVICE_ID(8, "invalid service ID: no listener"),
    /** The listener serves another transport type. */
    INVALID_TRANSPORT_TYPE(9, "invalid transport service type"),
    /** The peer still has an older connection of this queue pair. */
    STALE_CONNECTION(10, "stale connection"),
    /** The reliable datagram channel does not exist. */
    RDC_DOES_NOT_EXIST(11, "RDC does not exist"),
    /** The GID is not acceptable. */
    INVALID_GID(12, "invalid primary remote port GID"),
    /** The local identifier is not acceptable. */
    INVALID_LID(13, "invalid primary remote port LID"),
    /** The service level is not acceptable. */
    INVALID_SERVICE_LEVEL(14, "invalid primary SL"),
    /** The traffic class is not acceptable. */
    INVALID_TRAFFIC_CLASS(15, "invalid primary traffic class"),
    /** The hop limit is not acceptable. */
    INVALID_HOP_LIMIT(16, "invalid primary hop limit"),
    /** The packet rate is not acceptable. */
    INVALID_PACKET_RATE(17, "invalid primary packet rate"),
    /** The GID of the alternate path is not acceptable. */
    INVALID_ALTERNATE_GID(18, "invalid alternate remote port GID"),
    /** The local identifier of the alternate path is not acceptable. */
    INVALID_ALTERNATE_LID(19, "invalid alternate remote port LID"),
    /** The service level of the alternate path is not acceptable. */
    INVALID_ALTERNATE_SERVICE_LEVEL(20, "invalid alternate SL"),
    /** The traffic class of the alternate path is not acceptable. */
    INVALID_ALTERNATE_TRAFFIC_CLASS(21, "invalid alternate traffic class"),
    /** The hop limit of the alternate path is not acceptable. */
    INVALID_ALTERNATE_HOP_LIMIT(22, "invalid alternate hop limit"),
    /** The packet rate of the alternate path is not acceptable. */
    INVALID_ALTERNATE_PACKET_RATE(23, "invalid alternate packet rate"),
    /** The request is redirected to another port and communication manager. */
    PORT_AND_CM_REDIRECTION(24, "port and CM redirection"),
    /** The request is redirected to another port. */
    PORT_REDIRECTION(25, "port redirection"),
    /** The path MTU is not acceptable. */
    INVALID_PATH_MTU(26, "invalid path MTU"),
    /** The responder resources are fewer than requested. */
    INSUFFICIENT_RESPONDER_RESOURCES(27, "insufficient responder resources"),
    /** The application rejected the connection. */
    CONSUMER_DEFINED(28, "consumer reject: the application rejected the connection"),
    /** The receiver-not-ready retry count is not acceptable. */
    INVALID_RNR_RETRY(29, "RNR retry count rejected"),
    /** The local communication ID is already in use. */
    DUPLICATE_LOCAL_COMMUNICATION_ID(30, "duplicate local communication ID"),
    /** The class version is not supported. */
    INVALID_CLASS_VERSION(31, "invalid class version"),
    /** The flow label is not acceptable. */
    INVALID_FLOW_LABEL(32, "invalid primary flow label"),
    /** The flow label of the alternate path is not acceptable. */
    INVALID_ALTERNATE_FLOW_LABEL(33, "invalid alternate flow label"),
    /** A vendor option is not supported. */
    VENDOR_OPTION_NOT_SUPPORTED(35, "vendor option not supported");

    private static final Set<String> ABBREVIATIONS = Set.of("CM", "GID", "ID", "LID", "MTU", "RDC", "RNR");

    private static final CodeTable<RejectReason> BY_CODE = new CodeTable<>(values(), RejectReason::code);

    private final int code;
    private final String meaning;

    RejectReason(int code, String meaning) {
        this.code = code;
        this.meaning = meaning;
    }

    /** Returns the constant of a number on the wire, or nothing if there is none. */
    public static Optional<RejectReason> ofCode(int code) {
        return BY_CODE.get(code);
    }

    /** Returns the number on the wire. */
    public int code() {
        return code;
    }

    /** Returns a short description, which is close to the words of the specification. */
    public String meaning() {
        return meaning;
    }

    /**
     * Returns the name as words with the number, such as {@code "invalid service ID (8)"}. Numbers without a constant
     * are described too.
     */
    public static String text(int code) {
        return ofCode(code).map(reason -> reason.words() + " (" + code + ")").orElseGet(() -> "reason " + code);
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
