package io.rdma4j.verbs;

import static io.rdma4j.verbs.QueuePairAttribute.ACCESS_FLAGS;
import static io.rdma4j.verbs.QueuePairAttribute.ADDRESS_VECTOR;
import static io.rdma4j.verbs.QueuePairAttribute.DESTINATION_QUEUE_PAIR;
import static io.rdma4j.verbs.QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC;
import static io.rdma4j.verbs.QueuePairAttribute.MAX_READ_ATOMIC;
import static io.rdma4j.verbs.QueuePairAttribute.MIN_RNR_TIMER;
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

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state changes of queue pairs: which attributes each needs, and which it may have. Every
 * state also goes to {@link QueuePairState#RESET} and {@link QueuePairState#ERROR} with {@code STATE} alone. Source:
 * InfiniBand Architecture volume 1, 11.2.5.2; {@code ibv_modify_qp(3)}.
 *
 * <table>
 * <caption>Reliable connection</caption>
 * <tr><th>from</th><th>to</th><th>required</th><th>optional</th></tr>
 * <tr><td>RESET</td><td>INIT</td><td>PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS</td><td></td></tr>
 * <tr><td>INIT</td><td>INIT</td><td></td><td>PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS</td></tr>
 * <tr><td>INIT</td><td>READY_TO_RECEIVE</td><td>ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR, RECEIVE_PSN,
 * MAX_DESTINATION_READ_ATOMIC, MIN_RNR_TIMER</td><td>PARTITION_KEY_INDEX, ACCESS_FLAGS</td></tr>
 * <tr><td>READY_TO_RECEIVE</td><td>READY_TO_SEND</td><td>SEND_PSN, MAX_READ_ATOMIC, RETRY_COUNT, RNR_RETRY,
 * TIMEOUT</td><td>ACCESS_FLAGS, MIN_RNR_TIMER</td></tr>
 * <tr><td>READY_TO_SEND</td><td>READY_TO_SEND</td><td></td><td>ACCESS_FLAGS, MIN_RNR_TIMER</td></tr>
 * </table>
 *
 * <table>
 * <caption>Unreliable connection</caption>
 * <tr><th>from</th><th>to</th><th>required</th><th>optional</th></tr>
 * <tr><td>RESET</td><td>INIT</td><td>PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS</td><td></td></tr>
 * <tr><td>INIT</td><td>INIT</td><td></td><td>PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS</td></tr>
 * <tr><td>INIT</td><td>READY_TO_RECEIVE</td><td>ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR,
 * RECEIVE_PSN</td><td>PARTITION_KEY_INDEX, ACCESS_FLAGS</td></tr>
 * <tr><td>READY_TO_RECEIVE</td><td>READY_TO_SEND</td><td>SEND_PSN</td><td>ACCESS_FLAGS</td></tr>
 * <tr><td>READY_TO_SEND</td><td>READY_TO_SEND</td><td></td><td>ACCESS_FLAGS</td></tr>
 * </table>
 *
 * <table>
 * <caption>Unreliable datagram</caption>
 * <tr><th>from</th><th>to</th><th>required</th><th>optional</th></tr>
 * <tr><td>RESET</td><td>INIT</td><td>PARTITION_KEY_INDEX, PORT, QUEUE_KEY</td><td></td></tr>
 * <tr><td>INIT</td><td>INIT</td><td></td><td>PARTITION_KEY_INDEX, PORT, QUEUE_KEY</td></tr>
 * <tr><td>INIT</td><td>READY_TO_RECEIVE</td><td></td><td>PARTITION_KEY_INDEX, QUEUE_KEY</td></tr>
 * <tr><td>READY_TO_RECEIVE</td><td>READY_TO_SEND</td><td>SEND_PSN</td><td>QUEUE_KEY</td></tr>
 * <tr><td>READY_TO_SEND</td><td>READY_TO_SEND</td><td></td><td>QUEUE_KEY</td></tr>
 * </table>
 */
public final class QueuePairTransitions {
    /** One allowed change. */
    private record Row(
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {}

    private static final List<Row> RELIABLE = List.of(
            new Row(
                    QueuePairState.RESET,
                    QueuePairState.INIT,
                    Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS),
                    Set.of()),
            new Row(
                    QueuePairState.INIT,
                    QueuePairState.INIT,
                    Set.of(),
                    Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS)),
            new Row(
                    QueuePairState.INIT,
                    QueuePairState.READY_TO_RECEIVE,
                    Set.of(
                            ADDRESS_VECTOR,
                            PATH_MTU,
                            DESTINATION_QUEUE_PAIR,
                            RECEIVE_PSN,
                            MAX_DESTINATION_READ_ATOMIC,
                            MIN_RNR_TIMER),
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS)),
            new Row(
                    QueuePairState.READY_TO_RECEIVE,
                    QueuePairState.READY_TO_SEND,
                    Set.of(SEND_PSN, MAX_READ_ATOMIC, RETRY_COUNT, RNR_RETRY, TIMEOUT),
                    Set.of(ACCESS_FLAGS, MIN_RNR_TIMER)),
            new Row(
                    QueuePairState.READY_TO_SEND,
                    QueuePairState.READY_TO_SEND,
                    Set.of(),
                    Set.of(ACCESS_FLAGS, MIN_RNR_TIMER)));

    private static final List<Row> UNRELIABLE = List.of(
            new Row(
                    QueuePairState.RESET,
                    QueuePairState.INIT,
                    Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS),
                    Set.of()),
            new Row(
                    QueuePairState.INIT,
                    QueuePairState.INIT,
                    Set.of(),
                    Set.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS)),
            new Row(
                    QueuePairState.INIT,
                    QueuePairState.READY_TO_RECEIVE,
                    Set.of(ADDRESS_VECTOR, PATH_MTU, DESTINATION_QUEUE_PAIR, RECEIVE_PSN),
                    Set.of(PARTITION_KEY_INDEX, ACCESS_FLAGS)),
            new Row(
                    QueuePairState.READY_TO_RECEIVE,
                    QueuePairState.READY_TO_SEND,
                    Set.of(SEND_PSN),
                    Set.of(ACCESS_FLAGS)),
            new Row(QueuePairState.READY_TO_SEND, QueuePairState.READY_TO_SEND, Set.of(), Set.of(ACCESS_FLAGS)));

    private static final List<Row> DATAGRAM = List.of(
            new Row(QueuePairState.RESET, QueuePairState.INIT, Set.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY), Set.of()),
            new Row(QueuePairState.INIT, QueuePairState.INIT, Set.of(), Set.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY)),
            new Row(
                    QueuePairState.INIT,
                    QueuePairState.READY_TO_RECEIVE,
                    Set.of(),
                    Set.of(PARTITION_KEY_INDEX, QUEUE_KEY)),
            new Row(QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND, Set.of(SEND_PSN), Set.of(QUEUE_KEY)),
            new Row(QueuePairState.READY_TO_SEND, QueuePairState.READY_TO_SEND, Set.of(), Set.of(QUEUE_KEY)));

    private QueuePairTransitions() {}

    /**
     * Checks a change against the table.
     *
     * @param type transport of the queue pair
     * @param from state now
     * @param attributes what is to be changed
     * @return null if it is allowed, else a clause that says what is wrong
     */
    public static @Nullable String explainRefusal(
            QueuePairType type, QueuePairState from, QueuePairAttributes attributes) {
        Set<QueuePairAttribute> given = attributes.present();
        QueuePairState to = given.contains(STATE) ? attributes.state() : from;
        given.remove(STATE);
        if (to == QueuePairState.RESET || to == QueuePairState.ERROR) {
            return given.isEmpty() ? null : "a change to " + to + " takes no other attribute, but has " + given;
        }
        List<Row> rows = switch (type) {
            case RELIABLE_CONNECTION -> RELIABLE;
            case UNRELIABLE_CONNECTION -> UNRELIABLE;
            case UNRELIABLE_DATAGRAM -> DATAGRAM;
        };
        for (Row row : rows) {
            if (row.from == from && row.to == to) {
                return compare(row, given);
            }
        }
        return "a queue pair cannot go from " + from + " to " + to;
    }

    private static @Nullable String compare(Row row, Set<QueuePairAttribute> given) {
        Set<QueuePairAttribute> missing = EnumSet.noneOf(QueuePairAttribute.class);
        missing.addAll(row.required);
        missing.removeAll(given);
        Set<QueuePairAttribute> extra = EnumSet.noneOf(QueuePairAttribute.class);
        extra.addAll(given);
        extra.removeAll(row.required);
        extra.removeAll(row.optional);
        if (missing.isEmpty() && extra.isEmpty()) {
            return null;
        }
        return "a change from " + row.from + " to " + row.to
                + (missing.isEmpty() ? "" : " needs " + missing)
                + (missing.isEmpty() || extra.isEmpty() ? "" : " and")
                + (extra.isEmpty() ? "" : " does not take " + extra);
    }
}
