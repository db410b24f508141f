package io.rdma4j.cm;

import java.util.Locale;
import java.util.Set;

/**
 * Why a connection was rejected: the positive status of a {@link CmEvent.Type#REJECTED} event. Source: InfiniBand
 * Architecture volume 1, table 109 (12.6.7.2); C: {@code enum ib_cm_rej_reason}.
 */
public enum RejectReason {
    /** No queue pair. */
    NO_QUEUE_PAIR(1),
    /** No end-to-end context. */
    NO_END_TO_END_CONTEXT(2),
    /** No resources. */
    NO_RESOURCES(3),
    /** The peer gave up waiting. */
    TIMEOUT(4),
    /** The request is not supported. */
    UNSUPPORTED_REQUEST(5),
    /** Unknown communication ID. */
    INVALID_COMMUNICATION_ID(6),
    /** Wrong communication instance. */
    INVALID_COMMUNICATION_INSTANCE(7),
    /** Nobody listens. */
    INVALID_SERVICE_ID(8),
    /** The listener serves another transport. */
    INVALID_TRANSPORT_TYPE(9),
    /** The peer still knows an older connection of this queue pair. */
    STALE_CONNECTION(10),
    /** No reliable datagram channel. */
    RDC_DOES_NOT_EXIST(11),
    /** A GID is not usable. */
    INVALID_GID(12),
    /** A local identifier is not usable. */
    INVALID_LID(13),
    /** Service level. */
    INVALID_SERVICE_LEVEL(14),
    /** Traffic class. */
    INVALID_TRAFFIC_CLASS(15),
    /** Hop limit. */
    INVALID_HOP_LIMIT(16),
    /** Packet rate. */
    INVALID_PACKET_RATE(17),
    /** GID of the alternate path. */
    INVALID_ALTERNATE_GID(18),
    /** Local identifier of the alternate path. */
    INVALID_ALTERNATE_LID(19),
    /** Service level of the alternate path. */
    INVALID_ALTERNATE_SERVICE_LEVEL(20),
    /** Traffic class of the alternate path. */
    INVALID_ALTERNATE_TRAFFIC_CLASS(21),
    /** Hop limit of the alternate path. */
    INVALID_ALTERNATE_HOP_LIMIT(22),
    /** Packet rate of the alternate path. */
    INVALID_ALTERNATE_PACKET_RATE(23),
    /** Go to another port and communication manager. */
    PORT_AND_CM_REDIRECTION(24),
    /** Go to another port. */
    PORT_REDIRECTION(25),
    /** Path MTU. */
    INVALID_PATH_MTU(26),
    /** Not enough resources for the READs asked for. */
    INSUFFICIENT_RESPONDER_RESOURCES(27),
    /** The application said no. */
    CONSUMER_DEFINED(28),
    /** Receiver-not-ready retry count. */
    INVALID_RNR_RETRY(29),
    /** The communication ID is in use. */
    DUPLICATE_LOCAL_COMMUNICATION_ID(30),
    /** Class version. */
    INVALID_CLASS_VERSION(31),
    /** Flow label. */
    INVALID_FLOW_LABEL(32),
    /** Flow label of the alternate path. */
    INVALID_ALTERNATE_FLOW_LABEL(33),
    /** A vendor's option is not supported. */
    VENDOR_OPTION_NOT_SUPPORTED(35);

    private static final Set<String> ABBREVIATIONS = Set.of("CM", "GID", "ID", "LID", "MTU", "RDC", "RNR");

    private final int code;

    RejectReason(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /** A few words with the number: {@code "invalid service ID (8)"}; also for numbers without a constant. */
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
