package io.rdma4j.verbs.spi;

import static io.rdma4j.value.QueuePairState.ERROR;
import static io.rdma4j.value.QueuePairState.INIT;
import static io.rdma4j.value.QueuePairState.READY_TO_RECEIVE;
import static io.rdma4j.value.QueuePairState.READY_TO_SEND;
import static io.rdma4j.value.QueuePairState.RESET;
import static io.rdma4j.value.QueuePairState.SEND_QUEUE_DRAINED;
import static io.rdma4j.value.QueuePairState.SEND_QUEUE_ERROR;
import static io.rdma4j.verbs.QueuePairAttribute.ACCESS_FLAGS;
import static io.rdma4j.verbs.QueuePairAttribute.ADDRESS_VECTOR;
import static io.rdma4j.verbs.QueuePairAttribute.CURRENT_STATE;
import static io.rdma4j.verbs.QueuePairAttribute.DESTINATION_QUEUE_PAIR;
import static io.rdma4j.verbs.QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC;
import static io.rdma4j.verbs.QueuePairAttribute.MAX_READ_ATOMIC;
import static io.rdma4j.verbs.QueuePairAttribute.MIN_RNR_TIMER;
import static io.rdma4j.verbs.QueuePairAttribute.NOTIFY_WHEN_DRAINED;
import static io.rdma4j.verbs.QueuePairAttribute.PARTITION_KEY_INDEX;
import static io.rdma4j.verbs.QueuePairAttribute.PATH_MTU;
import static io.rdma4j.verbs.QueuePairAttribute.PORT;
import static io.rdma4j.verbs.QueuePairAttribute.QUEUE_KEY;
import static io.rdma4j.verbs.QueuePairAttribute.RECEIVE_PSN;
import static io.rdma4j.verbs.QueuePairAttribute.RETRY_COUNT;
import static io.rdma4j.verbs.QueuePairAttribute.RNR_RETRY;
import static io.rdma4j.verbs.QueuePairAttribute.SEND_PSN;
import static io.rdma4j.verbs.QueuePairAttribute.STATE;
import static io.rdma4j.verbs.QueuePairAttribute.TIMEOUT;

import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The state changes of queue pairs, with their required and optional attributes. {@link #changes} returns the table,
 * and docs/queue-pair-states.md shows it. Every state can also change to {@link QueuePairState#RESET} and
 * {@link QueuePairState#ERROR}, with only {@code STATE} set. A change without {@code STATE} keeps the state.
 *
 * <p>Failures also change the state. A failure changes any state to ERROR, except that a failed send on an unreliable
 * transport changes READY_TO_SEND to SEND_QUEUE_ERROR.
 *
 * <p>The table is equal to Linux's {@code ib_modify_qp_is_ok}, without alternate paths and rate limits, which RoCE
 * software devices do not have. Source: InfiniBand Architecture volume 1, 11.2.5.2; {@code ibv_modify_qp(3)}.
 */
public final class QueuePairTransitions {
    /**
     * An allowed change.
     *
     * @param from state before the change
     * @param to state after the change; equal to {@code from} if only attributes change
     * @param required attributes that must be set
     * @param optional attributes that may be set
     */
    public record Change(
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {}

    private static final Set<QueuePairAttribute> NONE = Set.of();

    private static final List<Change> RELIABLE = List.of(
            change(RESET, INIT, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS), NONE),
            change(INIT, INIT, NONE, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS)),
            change(
                    INIT,
                    READY_TO_RECEIVE,
                    Set.of(
                            ADDRESS_VECTOR,
                            PATH_MTU,
                            DESTINATION_QUEUE_PAIR,
                            RECEIVE_PSN,
                            MAX_DESTINATION_READ_ATOMIC,
                            MIN_RNR_TIMER),
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS)),
            change(
                    READY_TO_RECEIVE,
                    READY_TO_SEND,
                    Set.of(SEND_PSN, MAX_READ_ATOMIC, RETRY_COUNT, RNR_RETRY, TIMEOUT),
                    Set.of(CURRENT_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
            change(READY_TO_SEND, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
            change(READY_TO_SEND, SEND_QUEUE_DRAINED, NONE, Set.of(NOTIFY_WHEN_DRAINED)),
            change(SEND_QUEUE_DRAINED, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
            change(
                    SEND_QUEUE_DRAINED,
                    SEND_QUEUE_DRAINED,
                    NONE,
                    Set.of(
                            PARTITION_KEY_INDEX,
                            PORT,
                            ACCESS_FLAGS,
                            ADDRESS_VECTOR,
                            TIMEOUT,
                            RETRY_COUNT,
                            RNR_RETRY,
                            MAX_READ_ATOMIC,
                            MAX_DESTINATION_READ_ATOMIC,
                            MIN_RNR_TIMER)));

    private static final List<Change> INITIATOR = List.of(
            change(RESET, INIT, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS), NONE),
            change(INIT, INIT, NONE, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS)),
            change(
                    INIT,
                    READY_TO_RECEIVE,
                    Set.of(ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR, RECEIVE_PSN),
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS)),
            change(
                    READY_TO_RECEIVE,
                    READY_TO_SEND,
                    Set.of(SEND_PSN, MAX_READ_ATOMIC, RETRY_COUNT, RNR_RETRY, TIMEOUT),
                    Set.of(CURRENT_STATE, ACCESS_FLAGS)),
            change(READY_TO_SEND, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS)),
            change(READY_TO_SEND, SEND_QUEUE_DRAINED, NONE, Set.of(NOTIFY_WHEN_DRAINED)),
            change(SEND_QUEUE_DRAINED, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS)),
            change(
                    SEND_QUEUE_DRAINED,
                    SEND_QUEUE_DRAINED,
                    NONE,
                    Set.of(
                            PARTITION_KEY_INDEX,
                            PORT,
                            ACCESS_FLAGS,
                            ADDRESS_VECTOR,
                            TIMEOUT,
                            RETRY_COUNT,
                            RNR_RETRY,
                            MAX_READ_ATOMIC)));

    private static final List<Change> TARGET = List.of(
            change(RESET, INIT, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS), NONE),
            change(INIT, INIT, NONE, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS)),
            change(
                    INIT,
                    READY_TO_RECEIVE,
                    Set.of(
                            ADDRESS_VECTOR,
                            PATH_MTU,
                            DESTINATION_QUEUE_PAIR,
                            RECEIVE_PSN,
                            MAX_DESTINATION_READ_ATOMIC,
                            MIN_RNR_TIMER),
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS)),
            change(
                    READY_TO_RECEIVE,
                    READY_TO_SEND,
                    Set.of(SEND_PSN, TIMEOUT),
                    Set.of(CURRENT_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
            change(READY_TO_SEND, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)));

    private static final List<Change> UNRELIABLE = List.of(
            change(RESET, INIT, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS), NONE),
            change(INIT, INIT, NONE, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS)),
            change(
                    INIT,
                    READY_TO_RECEIVE,
                    Set.of(ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR, RECEIVE_PSN),
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS)),
            change(READY_TO_RECEIVE, READY_TO_SEND, Set.of(SEND_PSN), Set.of(CURRENT_STATE, ACCESS_FLAGS)),
            change(READY_TO_SEND, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS)),
            change(READY_TO_SEND, SEND_QUEUE_DRAINED, NONE, Set.of(NOTIFY_WHEN_DRAINED)),
            change(SEND_QUEUE_DRAINED, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS)),
            change(
                    SEND_QUEUE_DRAINED,
                    SEND_QUEUE_DRAINED,
                    NONE,
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS, ADDRESS_VECTOR)),
            change(SEND_QUEUE_ERROR, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, ACCESS_FLAGS)));

    private static final List<Change> DATAGRAM = List.of(
            change(RESET, INIT, Set.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY), NONE),
            change(INIT, INIT, NONE, Set.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY)),
            change(INIT, READY_TO_RECEIVE, NONE, Set.of(PARTITION_KEY_INDEX, QUEUE_KEY)),
            change(READY_TO_RECEIVE, READY_TO_SEND, Set.of(SEND_PSN), Set.of(CURRENT_STATE, QUEUE_KEY)),
            change(READY_TO_SEND, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, QUEUE_KEY)),
            change(READY_TO_SEND, SEND_QUEUE_DRAINED, NONE, Set.of(NOTIFY_WHEN_DRAINED)),
            change(SEND_QUEUE_DRAINED, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, QUEUE_KEY)),
            change(SEND_QUEUE_DRAINED, SEND_QUEUE_DRAINED, NONE, Set.of(PARTITION_KEY_INDEX, QUEUE_KEY)),
            change(SEND_QUEUE_ERROR, READY_TO_SEND, NONE, Set.of(CURRENT_STATE, QUEUE_KEY)));

    private QueuePairTransitions() {}

    private static Change change(
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {
        return new Change(from, to, ordered(required), ordered(optional));
    }

    /** Sorts attributes in the order of the enum, so that messages and tables are reproducible. */
    private static Set<QueuePairAttribute> ordered(Set<QueuePairAttribute> attributes) {
        return Collections.unmodifiableSet(new LinkedHashSet<>(new TreeSet<>(attributes)));
    }

    /** Returns the allowed changes of a transport, except the changes to RESET and ERROR. */
    public static List<Change> changes(QueuePairType type) {
        return switch (type) {
            case RELIABLE_CONNECTION -> RELIABLE;
            case XRC_SEND -> INITIATOR;
            case XRC_RECEIVE -> TARGET;
            case UNRELIABLE_CONNECTION -> UNRELIABLE;
            case UNRELIABLE_DATAGRAM -> DATAGRAM;
        };
    }

    /**
     * Checks a change against the table.
     *
     * @param type transport of the queue pair
     * @param from current state
     * @param attributes attributes to change
     * @return null if the change is allowed; otherwise a clause with the error and the allowed attributes or states
     */
    public static @Nullable String explainRefusal(
            QueuePairType type, QueuePairState from, QueuePairAttributes attributes) {
        Set<QueuePairAttribute> given = attributes.present();
        QueuePairState to = given.contains(STATE) ? attributes.state() : from;
        given.remove(STATE);
        if (to == RESET || to == ERROR) {
            return given.isEmpty() ? null : "a change to " + to + " takes no other attribute, but has " + given;
        }
        if (given.contains(CURRENT_STATE) && attributes.currentState() != from) {
            return "its state is " + from + ", but CURRENT_STATE is " + attributes.currentState();
        }
        Set<QueuePairState> reachable = EnumSet.of(RESET, ERROR);
        for (Change change : changes(type)) {
            if (change.from == from && change.to == to) {
                return compare(change, given);
            }
            if (change.from == from) {
                reachable.add(change.to);
            }
        }
        return "a queue pair of the type " + type + " cannot go from " + from + " to " + to + ", only to " + reachable;
    }

    private static @Nullable String compare(Change change, Set<QueuePairAttribute> given) {
        Set<QueuePairAttribute> missing = EnumSet.noneOf(QueuePairAttribute.class);
        missing.addAll(change.required);
        missing.removeAll(given);
        Set<QueuePairAttribute> extra = EnumSet.noneOf(QueuePairAttribute.class);
        extra.addAll(given);
        extra.removeAll(change.required);
        extra.removeAll(change.optional);
        if (missing.isEmpty() && extra.isEmpty()) {
            return null;
        }
        return "a change from " + change.from + " to " + change.to
                + (missing.isEmpty() ? "" : " needs " + missing)
                + (missing.isEmpty() || extra.isEmpty() ? "" : " and")
                + (extra.isEmpty() ? "" : " does not take " + extra)
                + "; it needs " + orNothing(change.required) + " and may have " + orNothing(change.optional);
    }

    private static String orNothing(Set<QueuePairAttribute> attributes) {
        return attributes.isEmpty() ? "nothing" : attributes.toString();
    }
}
