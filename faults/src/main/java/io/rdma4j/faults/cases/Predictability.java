package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Numbers that a peer would have to guess: those of queue pairs, keys, region addresses and ports, in the order in which
 * they are given out, guessed by what comes after the last one. And the first ones of a process, guessed by those of the
 * process before.
 */
public final class Predictability implements AcceptanceTest {
    private static final Duration LIMIT = Duration.ofSeconds(100);
    private static final int GUESSES_A_HIT = 10_000;
    private static final int STARTS = 3;

    @Override
    public int number() {
        return 12;
    }

    @Override
    public String title() {
        return "predictability";
    }

    @Override
    public String required(Scale scale) {
        return "guesses +1, +0x100 and the last step: at most 1 in " + GUESSES_A_HIT + " of " + numbers(scale)
                + " each; no key twice; nothing alike after " + STARTS + " starts";
    }

    private static int numbers(Scale scale) {
        return scale.of(100_000, 400_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int most = numbers(stage.scale()) / GUESSES_A_HIT;
        List<JsonNode> starts = new ArrayList<>();
        for (int i = 0; i < STARTS; i++) {
            Child maker = Child.builder(stage, "maker-" + i, Maker.class)
                    .with("numbers", i == 0 ? numbers(stage.scale()) : 1000)
                    .start();
            starts.add(maker.await("made", LIMIT));
        }
        JsonNode first = starts.getFirst();
        int hits = first.get("hits").asInt();
        int alike = 0;
        for (int i = 0; i < STARTS; i++) {
            for (int j = i + 1; j < STARTS; j++) {
                alike += alike(starts.get(i).get("first"), starts.get(j).get("first"));
            }
        }
        int repeats = first.get("repeats").asInt();
        return Outcome.of(
                hits <= most && repeats == 0 && alike <= 1,
                "at most %d hits of %d guesses (%s), %d keys twice, %d numbers alike after a start"
                        .formatted(
                                hits, numbers(stage.scale()), first.get("best").asText(), repeats, alike));
    }

    private static int alike(JsonNode a, JsonNode b) {
        int alike = 0;
        for (int i = 0; i < a.size(); i++) {
            alike += a.get(i).asLong() == b.get(i).asLong() ? 1 : 0;
        }
        return alike;
    }

    /** Makes objects, and guesses the number of each from those before. */
    public static final class Maker implements Role {
        private final List<Long> first = new ArrayList<>();
        private final Set<Long> keys = new HashSet<>();
        private int hits = -1;
        private String best = "";
        private int repeats;

        @Override
        public void run(Parent parent) throws Exception {
            int numbers = (int) parent.number("numbers", 1000);
            CmId id = CmId.create(PortSpace.TCP, null);
            id.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            ProtectionDomain domain = id.verbs().createProtectionDomain();
            CompletionQueue queue = id.verbs().createCompletionQueue(16, null, null);
            QueuePairInitAttributes small =
                    QueuePairInitAttributes.reliable(queue, new QueuePairCapabilities(1, 1, 1, 1, 0));
            guess("queue pairs", numbers, 1, () -> {
                try (QueuePair made = domain.createQueuePair(small)) {
                    return made.number();
                }
            });
            MemorySegment memory = Arena.ofShared().allocate(64);
            guess("keys", numbers, 1, () -> {
                try (MemoryRegion made = domain.register(memory, AccessFlag.LOCAL_WRITE)) {
                    repeats += keys.add((long) made.remoteKey()) ? 0 : 1;
                    return Integer.toUnsignedLong(made.remoteKey());
                }
            });
            guess("region addresses", numbers, 0x1000, () -> {
                try (MemoryRegion made = domain.register(memory, AccessFlag.LOCAL_WRITE)) {
                    return made.address();
                }
            });
            parent.report("made", Map.of("hits", hits, "best", best, "repeats", repeats, "first", first));
        }

        private void guess(String what, int numbers, long unit, LongSupplier next) {
            long[] guesses = new long[3];
            int[] right = new int[guesses.length];
            long last = next.getAsLong();
            first.add(last);
            long before = last;
            for (int i = 0; i < numbers; i++) {
                guesses[0] = last + unit;
                guesses[1] = last + 0x100 * unit;
                guesses[2] = last + (last - before);
                long now = next.getAsLong();
                for (int g = 0; g < guesses.length; g++) {
                    right[g] += guesses[g] == now && (g < 2 || last != before) ? 1 : 0;
                }
                if (i < 100) {
                    first.add(now);
                }
                before = last;
                last = now;
            }
            for (int g = 0; g < guesses.length; g++) {
                if (right[g] > hits) {
                    hits = right[g];
                    best = what;
                }
            }
        }
    }
}
