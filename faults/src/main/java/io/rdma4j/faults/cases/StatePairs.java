package io.rdma4j.faults.cases;

import static io.rdma4j.verbs.QueuePairState.ERROR;
import static io.rdma4j.verbs.QueuePairState.INIT;
import static io.rdma4j.verbs.QueuePairState.READY_TO_RECEIVE;
import static io.rdma4j.verbs.QueuePairState.READY_TO_SEND;
import static io.rdma4j.verbs.QueuePairState.RESET;
import static io.rdma4j.verbs.QueuePairState.SEND_QUEUE_DRAINED;
import static io.rdma4j.verbs.QueuePairState.SEND_QUEUE_ERROR;

import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.traffic.VerbsSide;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
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
 * 17: a queue pair is brought into each state and asked to change to every other one, with the attributes that the change
 * needs, with fewer, with others and with random ones. What is refused is refused with EINVAL and changes nothing; what is
 * allowed can be read back. And in each state it takes and refuses what may be posted.
 *
 * <p>What is allowed is written down here once more, after {@code ibv_modify_qp(3)}, not taken from the product.
 */
public final class StatePairs implements AcceptanceTest {
    private static final int PLACES = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Set<QueuePairAttribute> ALL = EnumSet.allOf(QueuePairAttribute.class);

    /** What a change needs, and behind the bar what it may have; besides STATE. */
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

    /** The states that an application can bring a queue pair to, each after those that lead there. */
    private static final List<QueuePairState> WAY =
            List.of(RESET, INIT, READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED);

    /** Creates the test. */
    public StatePairs() {}

    @Override
    public int number() {
        return 17;
    }

    @Override
    public String title() {
        return "queue pair states";
    }

    @Override
    public String required(Scale scale) {
        return "RC, UC, UD: every pair of states, %d masks each: done and read back, or EINVAL and nothing changed; posting in each state"
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
                        continue; // which never comes there
                    }
                    stage.progress(type + " in " + from);
                    Trial trial = new Trial(side, side.path(address), type, from);
                    String wrong = trial.posting();
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
        return Outcome.of(true, changes + " changes done or refused as due, posting in 20 states as due");
    }

    /** Attributes that a change needs (0) and may have besides (1), or null if there is no such change. */
    private static @Nullable List<Set<QueuePairAttribute>> rule(
            QueuePairType type, QueuePairState from, QueuePairState to) {
        if (to == RESET || to == ERROR) { // from each, with STATE alone
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

    /** Masks without STATE: what is needed, one less, one more, and random ones near it. */
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
            queuePair = make();
        }

        private QueuePair make() {
            QueuePair made = side.queuePair(type, PLACES, PLACES);
            bring(made);
            return made;
        }

        private void bring(QueuePair made) {
            made.modify(new QueuePairAttributes().state(RESET));
            for (int i = 1; i < WAY.size() && made.state() != from; i++) {
                List<Set<QueuePairAttribute>> rule = rule(type, WAY.get(i - 1), WAY.get(i));
                made.modify(attributes(WAY.get(i), rule == null ? Set.of() : rule.getFirst(), WAY.get(i - 1)));
                if (from == ERROR) {
                    made.modify(new QueuePairAttributes().state(ERROR));
                }
            }
            awaitDrained(made);
            if (from == SEND_QUEUE_ERROR) {
                failOneSend(made);
            }
        }

        /** Takes the memory away from a send that waits, and lets it go on. */
        private void failOneSend(QueuePair made) {
            try (Arena arena = Arena.ofShared()) {
                MemoryRegion region = side.domain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE);
                made.postSend(request(region));
                region.close();
                made.modify(new QueuePairAttributes().state(READY_TO_SEND));
                WorkCompletion failed = side.await(PATIENCE);
                if (failed.status() != CompletionStatus.LOCAL_PROTECTION_ERROR || made.state() != SEND_QUEUE_ERROR) {
                    throw new IllegalStateException("a send without memory: " + failed + ", " + made.state());
                }
            }
        }

        private static void awaitDrained(QueuePair queuePair) {
            while (queuePair.query().isDraining()) {
                Thread.onSpinWait();
            }
        }

        private QueuePairAttributes attributes(QueuePairState to, Set<QueuePairAttribute> mask, QueuePairState now) {
            QueuePairAttributes attributes = new QueuePairAttributes().state(to);
            int different = ++number;
            for (QueuePairAttribute attribute : mask) {
                var _ = switch (attribute) {
                    case STATE -> attributes;
                    case CURRENT_STATE -> attributes.currentState(now);
                    case NOTIFY_WHEN_DRAINED -> attributes.notifyWhenDrained(false);
                    case ACCESS_FLAGS ->
                        attributes.accessFlags(
                                Set.of(different % 2 == 0 ? AccessFlag.REMOTE_READ : AccessFlag.REMOTE_WRITE));
                    case PARTITION_KEY_INDEX -> attributes.partitionKeyIndex(0);
                    case PORT -> attributes.port(1);
                    case ADDRESS_VECTOR -> attributes.addressVector(path);
                    case PATH_MTU -> attributes.pathMtu(different % 2 == 0 ? PathMtu.MTU_512 : PathMtu.MTU_1024);
                    case TIMEOUT -> attributes.timeout(10 + different % 8);
                    case RETRY_COUNT -> attributes.retryCount(different % 8);
                    case RNR_RETRY -> attributes.rnrRetry(different % 8);
                    case RECEIVE_PSN -> attributes.receivePsn(different & 0xff_ffff);
                    case MAX_READ_ATOMIC -> attributes.maxReadAtomic(different % 4);
                    case MIN_RNR_TIMER -> attributes.minRnrTimer(different % 32);
                    case SEND_PSN -> attributes.sendPsn(different & 0xff_ffff);
                    case MAX_DESTINATION_READ_ATOMIC -> attributes.maxDestinationReadAtomic(different % 4);
                    case DESTINATION_QUEUE_PAIR -> attributes.destinationQueuePair(2 + different % 1000);
                    case QUEUE_KEY -> attributes.queueKey(different);
                };
            }
            return attributes;
        }

        /** One change; says what was wrong, or null. */
        @Nullable
        String change(QueuePairState to, Set<QueuePairAttribute> mask) {
            List<Set<QueuePairAttribute>> rule = rule(type, from, to);
            boolean isDue = rule != null
                    && mask.containsAll(rule.getFirst())
                    && mask.stream()
                            .allMatch(attribute -> rule.getFirst().contains(attribute)
                                    || rule.getLast().contains(attribute));
            Map<String, Object> before = snapshot();
            QueuePairAttributes change = attributes(to, mask, from);
            Errno refusal = refusal(() -> queuePair.modify(change));
            Map<String, Object> after = snapshot();
            String what = "to " + to + " with " + mask;
            if (!isDue) {
                return refusal == Errno.EINVAL && before.equals(after)
                        ? null
                        : what + " is " + (refusal == null ? "not refused" : "refused with " + refusal + ", " + after);
            }
            if (refusal != null) {
                return what + " is refused with " + refusal;
            }
            String wrong = queuePair.state() == to ? null : what + " leads to " + queuePair.state();
            Map<String, Object> required = values(change);
            if (to != RESET && to != ERROR) {
                for (QueuePairAttribute attribute : mask) {
                    String name = attribute.name();
                    if (required.containsKey(name) && !required.get(name).equals(after.get(name))) {
                        wrong = what + ": " + name + " reads " + after.get(name);
                    }
                }
            }
            bring(queuePair);
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

        /** Posts one more than there are places for, each way; says what was wrong, or null. */
        @Nullable
        String posting() {
            try (Arena arena = Arena.ofShared();
                    MemoryRegion region = side.domain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE)) {
                boolean failed = from == ERROR || from == SEND_QUEUE_ERROR;
                String wrong = failed ? inError(region) : null;
                if (wrong == null && from != ERROR) {
                    wrong = receives(region, from != RESET);
                }
                if (wrong == null && !failed && from != READY_TO_SEND) {
                    wrong = sends(region, from == SEND_QUEUE_DRAINED);
                }
                queuePair.close();
                queuePair = make();
                return wrong;
            }
        }

        private @Nullable String receives(MemoryRegion region, boolean taken) {
            ReceiveWorkRequest[] requests = Stream.generate(() -> new ReceiveWorkRequest().into(region, 0, 64))
                    .limit(PLACES + 1)
                    .toArray(ReceiveWorkRequest[]::new);
            return judge("receives", taken, () -> queuePair.postReceives(requests, requests.length));
        }

        private @Nullable String sends(MemoryRegion region, boolean taken) {
            SendWorkRequest[] requests =
                    Stream.generate(() -> request(region)).limit(PLACES + 1).toArray(SendWorkRequest[]::new);
            return judge("sends", taken, () -> queuePair.postSends(requests, requests.length));
        }

        private SendWorkRequest request(MemoryRegion region) {
            SendWorkRequest request = new SendWorkRequest().from(region, 0, 8);
            return type == QueuePairType.UNRELIABLE_DATAGRAM
                    ? request.to(side.domain().createAddressHandle(path), 2, 1)
                    : request;
        }

        /** Taken: as many as there are places, and the next refused with ENOMEM. Not taken: the first refused with EINVAL. */
        private static @Nullable String judge(String what, boolean taken, Runnable post) {
            try {
                post.run();
                return what + ": more are taken than there are places";
            } catch (PartialPostException e) {
                int due = taken ? PLACES : 0;
                Errno errno = taken ? Errno.ENOMEM : Errno.EINVAL;
                return e.posted() == due && e.errno() == errno
                        ? null
                        : "%s: %d taken, then %s".formatted(what, e.posted(), e.errno());
            }
        }

        /** What is posted in an error state is flushed, and so leaves its place. */
        private @Nullable String inError(MemoryRegion region) {
            WorkCompletion[] one = WorkCompletion.array(1);
            for (int i = 0; i < 4 * PLACES; i++) {
                if (i % 2 == 0 || from == SEND_QUEUE_ERROR) {
                    queuePair.postSend(request(region));
                } else {
                    queuePair.postReceive(new ReceiveWorkRequest().into(region, 0, 64));
                }
                one[0] = side.await(PATIENCE);
                if (one[0].status() != CompletionStatus.WORK_REQUEST_FLUSHED_ERROR) {
                    return "posted in the error state: " + one[0];
                }
            }
            return null;
        }
    }
}
