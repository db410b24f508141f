package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.cm.CmId;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
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
 * Numbers that an attacker would have to guess: queue pair numbers, keys and region addresses. The test guesses each
 * number from earlier ones of the same process, and the first numbers of a process from the numbers of the previous
 * process.
 */
public final class Predictability implements AcceptanceTest.Body {
    private static final Duration LIMIT = Duration.ofSeconds(100);
    private static final int GUESSES_PER_HIT = 10_000;
    private static final int PROCESSES = 3;

    @Override
    public String required(Scale scale) {
        return "guesses +1, +0x100 and the last step: at most 1 in " + GUESSES_PER_HIT + " of " + numbers(scale)
                + " each; no key repeated; no equal numbers in " + PROCESSES + " processes";
    }

    private static int numbers(Scale scale) {
        return scale.of(100_000, 400_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int maxHits = numbers(stage.scale()) / GUESSES_PER_HIT;
        List<JsonNode> processes = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            Child creator = Child.builder(stage, "maker-" + i, Creator.class)
                    .with("numbers", i == 0 ? numbers(stage.scale()) : 1000)
                    .start();
            processes.add(creator.await("made", LIMIT));
        }
        JsonNode first = processes.getFirst();
        int hits = first.get("hits").asInt();
        int countEqual = 0;
        for (int i = 0; i < PROCESSES; i++) {
            for (int j = i + 1; j < PROCESSES; j++) {
                countEqual += countEqual(
                        processes.get(i).get("first"), processes.get(j).get("first"));
            }
        }
        int repeats = first.get("repeats").asInt();
        return Outcome.of(
                hits <= maxHits && repeats == 0 && countEqual <= 1,
                "at most %d hits of %d guesses (%s), %d keys repeated, %d equal numbers after a restart"
                        .formatted(
                                hits, numbers(stage.scale()), first.get("best").asText(), repeats, countEqual));
    }

    private static int countEqual(JsonNode a, JsonNode b) {
        int countEqual = 0;
        for (int i = 0; i < a.size(); i++) {
            countEqual += a.get(i).asLong() == b.get(i).asLong() ? 1 : 0;
        }
        return countEqual;
    }

    /** Creates objects and guesses the number of each from the previous ones. */
    public static final class Creator implements Role {
        private final List<Long> first = new ArrayList<>();
        private final Set<Long> keys = new HashSet<>();
        private int hits = -1;
        private String best = "";
        private int repeats;

        @Override
        public void run(Parent parent) throws Exception {
            int numbers = (int) parent.number("numbers", 1000);
            CmId id = CmId.create(PortSpace.TCP);
            id.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            ProtectionDomain domain = id.verbs().createProtectionDomain();
            CompletionQueue queue = id.verbs().createCompletionQueue(16);
            QueuePairInitAttributes small =
                    QueuePairInitAttributes.reliable(queue, new QueuePairCapabilities(1, 1, 1, 1, 0));
            guess("queue pairs", numbers, 1, () -> {
                try (QueuePair created = domain.createQueuePair(small)) {
                    return created.number();
                }
            });
            MemorySegment memory = Arena.ofShared().allocate(64);
            guess("keys", numbers, 1, () -> {
                try (MemoryRegion created = domain.register(memory, AccessFlag.LOCAL_WRITE)) {
                    repeats += keys.add((long) created.remoteKey()) ? 0 : 1;
                    return Integer.toUnsignedLong(created.remoteKey());
                }
            });
            guess("region addresses", numbers, 0x1000, () -> {
                try (MemoryRegion created = domain.register(memory, AccessFlag.LOCAL_WRITE)) {
                    return created.address();
                }
            });
            parent.report("made", Map.of("hits", hits, "best", best, "repeats", repeats, "first", first));
        }

        private void guess(String kind, int numbers, long step, LongSupplier next) {
            long[] guesses = new long[3];
            int[] correct = new int[guesses.length];
            long last = next.getAsLong();
            first.add(last);
            long previous = last;
            for (int i = 0; i < numbers; i++) {
                guesses[0] = last + step;
                guesses[1] = last + 0x100 * step;
                guesses[2] = last + (last - previous);
                long current = next.getAsLong();
                for (int g = 0; g < guesses.length; g++) {
                    correct[g] += guesses[g] == current && (g < 2 || last != previous) ? 1 : 0;
                }
                if (i < 100) {
                    first.add(current);
                }
                previous = last;
                last = current;
            }
            for (int g = 0; g < guesses.length; g++) {
                if (correct[g] > hits) {
                    hits = correct[g];
                    best = kind;
                }
            }
        }
    }
}
