package io.rdma4j.acceptance.cases;

import static io.rdma4j.value.QueuePairState.ERROR;
import static io.rdma4j.value.QueuePairState.INIT;
import static io.rdma4j.value.QueuePairState.READY_TO_RECEIVE;
import static io.rdma4j.value.QueuePairState.READY_TO_SEND;
import static io.rdma4j.value.QueuePairState.RESET;
import static io.rdma4j.value.QueuePairState.SEND_QUEUE_DRAINED;
import static io.rdma4j.value.QueuePairState.SEND_QUEUE_ERROR;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair in each state is modified to every state: with the required attributes, with fewer, with additional and
 * with random ones. Invalid changes are refused with EINVAL and have no effect; valid changes can be queried. In each
 * state, posting succeeds or is refused as specified.
 *
 * <p>The rules are written here from {@code ibv_modify_qp(3)}, and not taken from the implementation.
 */
public final class StatePairs implements AcceptanceTest.Body {
    private static final int SLOTS = 4;
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(5);

    private static final Set<QueuePairAttribute> ALL = EnumSet.allOf(QueuePairAttribute.class);

    /** The attributes that a change requires, and after the bar the attributes that it allows, both without STATE. */
    private static final Map<String, String> RELIABLE = Map.of(
            "RESET INIT", "PARTITION_KEY_INDEX PORT ACCESS_FLAGS |",
            "INIT INIT", "| PARTITION_KEY_INDEX PORT ACCESS_FLAGS",
            "INIT READY_TO_RECEIVE",
                    "ADDRESS_VECTOR PATH_MTU DESTINATION_QUEUE_PAIR RECEIVE_PSN MAX_DESTINATION_READ_ATOMIC"
                            + " MIN_RNR_TIMER | PARTITION_KEY_INDEX ACCESS_FLAGS",
            "READY_TO_RECEIVE READY_TO_SEND",
                    "SEND_PSN TIMEOUT RETRY_COUNT RNR_RETRY MAX_READ_ATOMIC | CURRENT_STATE ACCESS_FLAGS MIN_RNR_TIMER",
            "READY_TO_SEND READY_TO_SEND", "| CURRENT_STATE ACCESS_FLAGS MIN_RNR_TIMER",
            "READY_TO_SEND SEND_QUEUE_DRAINED", "| NOTIFY_WHEN_DRAINED",
            "SEND_QUEUE_DRAINED READY_TO_SEND", "| CURRENT_STATE ACCESS_FLAGS MIN_RNR_TIMER",
            "SEND_QUEUE_DRAINED SEND_QUEUE_DRAINED",
                    "| PARTITION_KEY_INDEX PORT ACCESS_FLAGS ADDRESS_VECTOR TIMEOUT RETRY_COUNT RNR_RETRY"
                            + " MAX_READ_ATOMIC MAX_DESTINATION_READ_ATOMIC MIN_RNR_TIMER");

    private static final Map<String, String> UNRELIABLE = Map.of(
            "RESET INIT", "PARTITION_KEY_INDEX PORT ACCESS_FLAGS |",
            "INIT INIT", "| PARTITION_KEY_INDEX PORT ACCESS_FLAGS",
            "INIT READY_TO_RECEIVE",
                    "ADDRESS_VECTOR PATH_MTU DESTINATION_QUEUE_PAIR RECEIVE_PSN | PARTITION_KEY_INDEX ACCESS_FLAGS",
            "READY_TO_RECEIVE READY_TO_SEND", "SEND_PSN | CURRENT_STATE ACCESS_FLAGS",
            "READY_TO_SEND READY_TO_SEND", "| CURRENT_STATE ACCESS_FLAGS",
            "READY_TO_SEND SEND_QUEUE_DRAINED", "| NOTIFY_WHEN_DRAINED",
            "SEND_QUEUE_DRAINED READY_TO_SEND", "| CURRENT_STATE ACCESS_FLAGS",
            "SEND_QUEUE_DRAINED SEND_QUEUE_DRAINED", "| PARTITION_KEY_INDEX ACCESS_FLAGS ADDRESS_VECTOR",
            "SEND_QUEUE_ERROR READY_TO_SEND", "| CURRENT_STATE ACCESS_FLAGS");

    private static final Map<String, String> DATAGRAM = Map.of(
            "RESET INIT", "PARTITION_KEY_INDEX PORT QUEUE_KEY |",
            "INIT INIT", "| PARTITION_KEY_INDEX PORT QUEUE_KEY",
            "INIT READY_TO_RECEIVE", "| PARTITION_KEY_INDEX QUEUE_KEY",
            "READY_TO_RECEIVE READY_TO_SEND", "SEND_PSN | CURRENT_STATE QUEUE_KEY",
            "READY_TO_SEND READY_TO_SEND", "| CURRENT_STATE QUEUE_KEY",
            "READY_TO_SEND SEND_QUEUE_DRAINED", "| NOTIFY_WHEN_DRAINED",
            "SEND_QUEUE_DRAINED READY_TO_SEND", "| CURRENT_STATE QUEUE_KEY",
            "SEND_QUEUE_DRAINED SEND_QUEUE_DRAINED", "| PARTITION_KEY_INDEX QUEUE_KEY",
            "SEND_QUEUE_ERROR READY_TO_SEND", "| CURRENT_STATE QUEUE_KEY");

    private static final Map<QueuePairType, Map<String, String>> RULES = Map.of(
            QueuePairType.RELIABLE_CONNECTION, RELIABLE,
            QueuePairType.UNRELIABLE_CONNECTION, UNRELIABLE,
            QueuePairType.UNRELIABLE_DATAGRAM, DATAGRAM);

    /** The states that an application can reach, each after the states before it. */
    private static final List<QueuePairState> REACHABLE =
            List.of(RESET, INIT, READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED);

    @Override
    public String required(Scale scale) {
        return "RC, UC, UD: every pair of states, %d masks each: changed and queried, or EINVAL without effect; posting in each state"
                .formatted(masks(scale));
    }

    private static int masks(Scale scale) {
        return scale.of(100, 3000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        Random random = new Random(seed);
        InetAddress address = InetAddress.getLoopbackAddress();
        int changes = 0;
        try (VerbsSide side = new VerbsSide(address, 64, 0)) {
            for (QueuePairType type : RULES.keySet()) {
                for (QueuePairState from : QueuePairState.values()) {
                    if (from == SEND_QUEUE_ERROR && type == QueuePairType.RELIABLE_CONNECTION) {
                        continue; // not a state of reliable connections
                    }
                    stage.progress(type + " in " + from);
                    Trial trial = new Trial(side, side.path(address), type, from);
                    String wrong = trial.checkPosting();
                    for (QueuePairState to : QueuePairState.values()) {
                        for (Set<QueuePairAttribute> mask : masks(type, from, to, masks(stage.scale()), random)) {
                            wrong = wrong == null ? trial.change(to, mask) : wrong;
                            changes++;
                        }
                    }
                    if (wrong != null) {
                        return Outcome.failed("-Drdma4j.seed=%d: %s in %s: %s".formatted(seed, type, from, wrong));
                    }
                }
            }
        }
        return Outcome.of(true, changes + " changes made or refused as specified, posting in 20 states as specified");
    }

    /**
     * Returns the attributes that a change requires (0) and additionally allows (1), or null if there is no such
     * change.
     */
    private static @Nullable List<Set<QueuePairAttribute>> rule(
            QueuePairType type, QueuePairState from, QueuePairState to) {
        if (to == RESET || to == ERROR) { // allowed from each state, with STATE alone
            return List.of(Set.of(), Set.of());
        }
        String rule = RULES.getOrDefault(type, Map.of()).get(from + " " + to);
        return rule == null
                ? null
                : Stream.of(rule.split("\\|", -1)).map(StatePairs::attributes).toList();
    }

    private static Set<QueuePairAttribute> attributes(String names) {
        Set<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        Stream.of(names.strip().split(" ", -1))
                .filter(name -> !name.isEmpty())
                .map(QueuePairAttribute::valueOf)
                .forEach(set::add);
        return set;
    }

    /** Returns masks without STATE: the required one, those that differ by one attribute, and random ones near it. */
    private static List<Set<QueuePairAttribute>> masks(
            QueuePairType type, QueuePairState from, QueuePairState to, int random, Random numbers) {
        List<Set<QueuePairAttribute>> rule = rule(type, from, to);
        Set<QueuePairAttribute> base = rule == null ? Set.of() : rule.getFirst();
        List<Set<QueuePairAttribute>> masks = new ArrayList<>();
        masks.add(base);
        for (QueuePairAttribute attribute : ALL) {
            if (attribute != QueuePairAttribute.STATE) {
                Set<QueuePairAttribute> mask = EnumSet.copyOf(ALL);
                mask.retainAll(base);
                if (!mask.remove(attribute)) {
                    mask.add(attribute);
                }
                masks.add(mask);
            }
        }
        for (int i = 0; i < random; i++) {
            Set<QueuePairAttribute> mask = EnumSet.copyOf(ALL);
            int likely = numbers.nextInt(1, 10);
            mask.removeIf(attribute -> attribute == QueuePairAttribute.STATE
                    || (base.contains(attribute) ? numbers.nextInt(20) == 0 : numbers.nextInt(10) < likely));
            masks.add(mask);
        }
        return masks;
    }

    /** A queue pair in one state. */
    private static final class Trial {
        private final VerbsSide side;
        private final AddressVector path;
        private final QueuePairType type;
        private final QueuePairState from;
        private QueuePair queuePair;
        private int number;

        Trial(VerbsSide side, AddressVector path, QueuePairType type, QueuePairState from) {
            this.side = side;
            this.path = path;
            this.type = type;
            this.from = from;
            queuePair = create();
        }

        private QueuePair create() {
            QueuePair pair = side.queuePair(type, SLOTS, SLOTS);
            moveToState(pair);
            return pair;
        }

        private void moveToState(QueuePair pair) {
            pair.modify(new QueuePairAttributes().state(RESET));
            for (int i = 1; i < REACHABLE.size() && pair.state() != from; i++) {
                List<Set<QueuePairAttribute>> rule = rule(type, REACHABLE.get(i - 1), REACHABLE.get(i));
                pair.modify(
                        attributes(REACHABLE.get(i), rule == null ? Set.of() : rule.getFirst(), REACHABLE.get(i - 1)));
                if (from == ERROR) {
                    pair.modify(new QueuePairAttributes().state(ERROR));
                }
            }
            awaitDrained(pair);
            if (from == SEND_QUEUE_ERROR) {
                failOneSend(pair);
            }
        }

        /** Deregisters the memory of a pending send and lets the send continue. */
        private void failOneSend(QueuePair pair) {
            try (Arena arena = Arena.ofShared()) {
                MemoryRegion region = side.domain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE);
                pair.postSend(request(region));
                region.close();
                pair.modify(new QueuePairAttributes().state(READY_TO_SEND));
                WorkCompletion failed = side.await(WAIT_LIMIT);
                if (failed.status() != CompletionStatus.LOCAL_PROTECTION_ERROR || pair.state() != SEND_QUEUE_ERROR) {
                    throw new IllegalStateException("a send without memory: " + failed + ", " + pair.state());
                }
            }
        }

        private static void awaitDrained(QueuePair queuePair) {
            while (queuePair.query().isDraining()) {
                Thread.onSpinWait();
            }
        }

        private QueuePairAttributes attributes(
                QueuePairState to, Set<QueuePairAttribute> mask, QueuePairState current) {
            QueuePairAttributes attributes = new QueuePairAttributes().state(to);
            int value = ++number;
            for (QueuePairAttribute attribute : mask) {
                var _ = switch (attribute) {
                    case STATE -> attributes;
                    case CURRENT_STATE -> attributes.currentState(current);
                    case NOTIFY_WHEN_DRAINED -> attributes.notifyWhenDrained(false);
                    case ACCESS_FLAGS ->
                        attributes.accessFlags(
                                Set.of(value % 2 == 0 ? AccessFlag.REMOTE_READ : AccessFlag.REMOTE_WRITE));
                    case PARTITION_KEY_INDEX -> attributes.partitionKeyIndex(0);
                    case PORT -> attributes.port(1);
                    case ADDRESS_VECTOR -> attributes.addressVector(path);
                    case PATH_MTU -> attributes.pathMtu(value % 2 == 0 ? PathMtu.MTU_512 : PathMtu.MTU_1024);
                    case TIMEOUT -> attributes.timeout(10 + value % 8);
                    case RETRY_COUNT -> attributes.retryCount(value % 8);
                    case RNR_RETRY -> attributes.rnrRetry(value % 8);
                    case RECEIVE_PSN -> attributes.receivePsn(value & 0xff_ffff);
                    case MAX_READ_ATOMIC -> attributes.maxReadAtomic(value % 4);
                    case MIN_RNR_TIMER -> attributes.minRnrTimer(value % 32);
                    case SEND_PSN -> attributes.sendPsn(value & 0xff_ffff);
                    case MAX_DESTINATION_READ_ATOMIC -> attributes.maxDestinationReadAtomic(value % 4);
                    case DESTINATION_QUEUE_PAIR -> attributes.destinationQueuePair(2 + value % 1000);
                    case QUEUE_KEY -> attributes.queueKey(value);
                };
            }
            return attributes;
        }

        /** Makes one change. Returns what was wrong, or null. */
        @Nullable
        String change(QueuePairState to, Set<QueuePairAttribute> mask) {
            List<Set<QueuePairAttribute>> rule = rule(type, from, to);
            boolean isValid = rule != null
                    && mask.containsAll(rule.getFirst())
                    && mask.stream()
                            .allMatch(attribute -> rule.getFirst().contains(attribute)
                                    || rule.getLast().contains(attribute));
            Map<String, Object> before = snapshot();
            QueuePairAttributes change = attributes(to, mask, from);
            Errno refusal = refusal(() -> queuePair.modify(change));
            Map<String, Object> after = snapshot();
            String description = "to " + to + " with " + mask;
            if (!isValid) {
                return refusal == Errno.EINVAL && before.equals(after)
                        ? null
                        : description + " is "
                                + (refusal == null ? "not refused" : "refused with " + refusal + ", " + after);
            }
            if (refusal != null) {
                return description + " is refused with " + refusal;
            }
            String wrong = queuePair.state() == to ? null : description + " leads to " + queuePair.state();
            Map<String, Object> required = values(change);
            if (to != RESET && to != ERROR) {
                for (QueuePairAttribute attribute : mask) {
                    String name = attribute.name();
                    if (required.containsKey(name) && !required.get(name).equals(after.get(name))) {
                        wrong = description + ": " + name + " reads " + after.get(name);
                    }
                }
            }
            moveToState(queuePair);
            return wrong;
        }

        private static @Nullable Errno refusal(Runnable call) {
            try {
                call.run();
                return null;
            } catch (RdmaException e) {
                return e.errno();
            }
        }

        private Map<String, Object> snapshot() {
            awaitDrained(queuePair);
            return values(queuePair.query());
        }

        private static Map<String, Object> values(QueuePairAttributes a) {
            AddressVector path = a.addressVector();
            return Map.ofEntries(
                    Map.entry("STATE", a.state()),
                    Map.entry("ACCESS_FLAGS", a.accessFlags()),
                    Map.entry("PARTITION_KEY_INDEX", a.partitionKeyIndex()),
                    Map.entry("PORT", a.port()),
                    Map.entry("ADDRESS_VECTOR", path == null ? "none" : path),
                    Map.entry("PATH_MTU", a.pathMtu()),
                    Map.entry("TIMEOUT", a.timeout()),
                    Map.entry("RETRY_COUNT", a.retryCount()),
                    Map.entry("RNR_RETRY", a.rnrRetry()),
                    Map.entry("RECEIVE_PSN", a.receivePsn()),
                    Map.entry("MAX_READ_ATOMIC", a.maxReadAtomic()),
                    Map.entry("MIN_RNR_TIMER", a.minRnrTimer()),
                    Map.entry("SEND_PSN", a.sendPsn()),
                    Map.entry("MAX_DESTINATION_READ_ATOMIC", a.maxDestinationReadAtomic()),
                    Map.entry("DESTINATION_QUEUE_PAIR", a.destinationQueuePair()),
                    Map.entry("QUEUE_KEY", a.queueKey()));
        }

        /** Posts one work request more than the queue can hold, in each queue. Returns what was wrong, or null. */
        @Nullable
        String checkPosting() {
            try (Arena arena = Arena.ofShared();
                    MemoryRegion region = side.domain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE)) {
                boolean failed = from == ERROR || from == SEND_QUEUE_ERROR;
                String wrong = failed ? postInError(region) : null;
                if (wrong == null && from != ERROR) {
                    wrong = receives(region, from != RESET);
                }
                if (wrong == null && !failed && from != READY_TO_SEND) {
                    wrong = sends(region, from == SEND_QUEUE_DRAINED);
                }
                queuePair.close();
                queuePair = create();
                return wrong;
            }
        }

        private @Nullable String receives(MemoryRegion region, boolean accepted) {
            ReceiveWorkRequest[] requests = Stream.generate(() -> new ReceiveWorkRequest().into(region, 0, 64))
                    .limit(SLOTS + 1)
                    .toArray(ReceiveWorkRequest[]::new);
            return checkPost("receives", accepted, () -> queuePair.postReceives(requests, requests.length));
        }

        private @Nullable String sends(MemoryRegion region, boolean accepted) {
            SendWorkRequest[] requests =
                    Stream.generate(() -> request(region)).limit(SLOTS + 1).toArray(SendWorkRequest[]::new);
            return checkPost("sends", accepted, () -> queuePair.postSends(requests, requests.length));
        }

        private SendWorkRequest request(MemoryRegion region) {
            SendWorkRequest request = new SendWorkRequest().from(region, 0, 8);
            return type == QueuePairType.UNRELIABLE_DATAGRAM
                    ? request.to(side.domain().createAddressHandle(path), 2, 1)
                    : request;
        }

        /**
         * Checks a partial post. If accepted, a full queue refuses the next one with ENOMEM; otherwise the first one is
         * refused with EINVAL.
         */
        private static @Nullable String checkPost(String description, boolean accepted, Runnable post) {
            try {
                post.run();
                return description + ": more accepted than the queue holds";
            } catch (PartialPostException e) {
                int expected = accepted ? SLOTS : 0;
                Errno errno = accepted ? Errno.ENOMEM : Errno.EINVAL;
                return e.posted() == expected && e.errno() == errno
                        ? null
                        : "%s: %d accepted, then %s".formatted(description, e.posted(), e.errno());
            }
        }

        /** Posts in an error state, where each work request is flushed and frees its slot. */
        private @Nullable String postInError(MemoryRegion region) {
            WorkCompletion[] one = WorkCompletion.array(1);
            for (int i = 0; i < 4 * SLOTS; i++) {
                if (i % 2 == 0 || from == SEND_QUEUE_ERROR) {
                    queuePair.postSend(request(region));
                } else {
                    queuePair.postReceive(new ReceiveWorkRequest().into(region, 0, 64));
                }
                one[0] = side.await(WAIT_LIMIT);
                if (one[0].status() != CompletionStatus.WORK_REQUEST_FLUSHED_ERROR) {
                    return "posted in the error state: " + one[0];
                }
            }
            return null;
        }
    }
}
