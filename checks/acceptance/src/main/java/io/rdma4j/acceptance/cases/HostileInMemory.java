package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.PrivateRunDirectory;
import io.rdma4j.acceptance.process.ResourceUsage;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.process.SharedMappings;
import io.rdma4j.acceptance.traffic.HostileSharer;
import io.rdma4j.acceptance.traffic.HostileSharer.Attack;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.acceptance.traffic.WriteReadPeer;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A process of the same user hands over shared memory with invalid contents ({@link HostileSharer}) to a victim that
 * polls and to one that sleeps. Meanwhile another process exchanges data with the victim through shared memory, and a
 * third one by UDP: both continue, memory to which the process has no key is unchanged, and new processes can connect.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class HostileInMemory implements AcceptanceTest.Body {
    private static final long MAX_BYTES = 8 << 20;
    private static final long RELEASE_MILLIS = 20_000;
    private static final int MIN_ROUNDS = 20;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** The attacks of which the victim refuses every part. */
    private static final Set<Attack> REFUSED =
            EnumSet.of(Attack.KEYS, Attack.GREETINGS, Attack.MEMORY, Attack.TRUNCATED);

    @Override
    public String required(Scale scale) {
        return "%d times %d attacks: 0 exceptions, 0 wrong bytes, other connections continue, no additional descriptor or mapping"
                .formatted(4 * count(scale), Attack.values().length - 1);
    }

    private static int count(Scale scale) {
        return scale.of(10, 500);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        StringBuilder measured = new StringBuilder();
        for (boolean polls : new boolean[] {true, false}) {
            PrivateRunDirectory directory = stage.keep(PrivateRunDirectory.create());
            String text = attack(stage, hosts, directory, polls);
            measured.append(measured.isEmpty() ? "" : "; ")
                    .append(polls ? "polling: " : "sleeping: ")
                    .append(text);
        }
        return Outcome.of(true, measured.toString());
    }

    private static String attack(TestStage stage, TwoHosts hosts, PrivateRunDirectory directory, boolean polls)
            throws IOException, InterruptedException {
        String name = polls ? "polling-" : "sleeping-";
        Child victim = Child.builder(stage, name + "victim", Victim.class)
                .on(hosts.left())
                .options(directory.option())
                .with("polls", polls ? 1 : 0)
                .trackNativeMemory()
                .start();
        int port = victim.await("port", LIMIT).asInt();
        Path socket = directory.rings().getFirst();
        Child byMemory = peer(stage, hosts, directory, name + "memory", port);
        Child byUdp = peer(stage, hosts, directory, name + "udp", port, "-Drdma4j.shared-memory=off");
        List<Child> peers = List.of(byMemory, byUdp);
        JsonNode target = victim.ask("target", "target", LIMIT);
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        stage.note(name + "seed " + seed);
        Child attacker = Child.builder(stage, name + "attacker", HostileSharer.class)
                .on(hosts.left())
                .options(directory.option())
                .with("address", TwoHosts.LEFT)
                .with("port", port)
                .with("socket", socket)
                .with("numbers", target.get("numbers").asText())
                .with("guard", target.get("address").asLong())
                .with("key", target.get("key").asInt())
                .with("count", count(stage.scale()))
                .with("seed", seed)
                .start();
        attacker.await("ready", LIMIT);
        @Nullable ResourceUsage before = null;
        long rounds = 0;
        int refused = 0;
        for (int time = 0; time < 2; time++) { // the first round warms up
            for (Attack attack : Attack.values()) {
                stage.progress(name + "victim, " + attack);
                int closed = attacker.ask(attack.name(), "done", Duration.ofMinutes(20))
                        .asInt();
                stage.note(name + attack + ": " + closed + " refused");
                refused += closed;
                if (REFUSED.contains(attack) && closed != count(stage.scale())) {
                    throw new IOException(name + attack + ": " + closed + " of " + count(stage.scale()) + " refused");
                }
                for (Child peer : peers) {
                    rounds += awaitRounds(peer, name + attack);
                }
                if (attack == Attack.CROWD) {
                    try (Child another = peer(stage, hosts, directory, name + "another", port)) {
                        long _ = awaitRounds(another, name + "another process in a crowd");
                        another.sendLine("end");
                        int _ = another.awaitEnd(LIMIT);
                    }
                }
                if (!victim.ask("look", "intact", LIMIT).asBoolean()) {
                    throw new IOException(name + attack + ": memory has changed without its key");
                }
            }
            if (time == 0) {
                int _ = SharedMappings.await(victim, 4, RELEASE_MILLIS);
                before = victim.resourceUsage();
            }
        }
        // Rings with the two processes: two with the peer, and two with the hostile process, which had connections
        // before.
        int mappings = SharedMappings.await(victim, 4, RELEASE_MILLIS);
        ResourceUsage after = victim.resourceUsage();
        ResourceUsage growth = before == null ? after : after.since(before);
        JsonNode udp = byUdp.ask("look", "state", LIMIT);
        JsonNode memory = byMemory.ask("look", "state", LIMIT);
        long exceptions = exceptions(stage.folder().resolve(name + "victim.err"));
        String measured = "%d refused, %d rounds of others, %d exceptions, %s, %d mappings"
                .formatted(refused, rounds, exceptions, growth, mappings);
        if (exceptions > 0
                || !growth.isWithin(MAX_BYTES)
                || mappings > 4
                || udp.get("memorySent").asLong() != 0
                || memory.get("memorySent").asLong() < memory.get("rounds").asLong()) {
            throw new IOException(name + "victim: " + measured + ", by UDP " + udp + ", by memory " + memory);
        }
        for (Child child : List.of(victim, attacker, byMemory, byUdp)) {
            child.kill();
        }
        return measured;
    }

    private static Child peer(
            TestStage stage, TwoHosts hosts, PrivateRunDirectory directory, String name, int port, String... options)
            throws IOException, InterruptedException {
        Child peer = Child.builder(stage, name, WriteReadPeer.class)
                .on(hosts.left())
                .options(directory.option())
                .options(options)
                .with("from", TwoHosts.LEFT)
                .with("to", TwoHosts.LEFT)
                .with("port", port)
                .start();
        peer.await("ready", LIMIT);
        return peer;
    }

    private static long awaitRounds(Child peer, String when) throws IOException, InterruptedException {
        JsonNode state = peer.ask("look", "state", LIMIT);
        long first = state.get("rounds").asLong();
        long begin = System.nanoTime();
        while (state.get("rounds").asLong() < first + MIN_ROUNDS) {
            if (!state.get("wrong").asText().isEmpty() || System.nanoTime() - begin > LIMIT.toNanos()) {
                throw new IOException(when + ": " + state);
            }
            Thread.sleep(2);
            state = peer.ask("look", "state", LIMIT);
        }
        return state.get("rounds").asLong() - first;
    }

    private static long exceptions(Path log) throws IOException {
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains("Exception") || line.contains("Error") || line.startsWith("\tat "))
                .count();
    }

    /** The attacked process. */
    public static final class Victim implements Role {
        private static final int GUARD_BYTES = 64 << 10;
        private static final byte CONTENT = (byte) 0xa5;
        private static final Duration INTERVAL = Duration.ofMillis(20);

        private final List<TrafficSide> sides = new CopyOnWriteArrayList<>();

        @Override
        public void run(Parent parent) throws IOException {
            boolean polls = parent.number("polls", 0) == 1;
            TrafficSide.Listener listener = new TrafficSide.Listener(new InetSocketAddress(TwoHosts.LEFT, 0), 64);
            parent.report("port", listener.port());
            Thread.ofPlatform().daemon().start(() -> {
                while (true) {
                    TrafficSide.Request request = listener.request();
                    Thread.ofPlatform().daemon().start(() -> serve(request, polls));
                }
            });
            @Nullable MemoryRegion guard = null;
            while (true) {
                String command = parent.nextCommand();
                if (guard == null) {
                    guard = sides.getFirst()
                            .domain()
                            .register(Arena.global().allocate(GUARD_BYTES, 4096), VerbsSide.ALL);
                    guard.memory().fill(CONTENT);
                }
                if (command.equals("target")) {
                    parent.report("target", target(guard));
                } else {
                    parent.report("intact", isIntact(guard));
                }
            }
        }

        private Map<String, Object> target(MemoryRegion guard) {
            Map<String, Object> target = new LinkedHashMap<>();
            target.put("address", guard.address());
            target.put("key", guard.remoteKey());
            target.put(
                    "numbers",
                    sides.get(0).queuePair().number() + ","
                            + sides.get(1).queuePair().number());
            return target;
        }

        private static boolean isIntact(MemoryRegion guard) {
            for (byte each : guard.memory().toArray(ValueLayout.JAVA_BYTE)) {
                if (each != CONTENT) {
                    return false;
                }
            }
            return true;
        }

        private void serve(TrafficSide.Request request, boolean polls) {
            try (TrafficSide side = request.accept(
                    TrafficSide.Shape.of(4, 4, WriteReadPeer.BYTES), prepared -> prepared.postReceive(0, 0, 0))) {
                sides.add(side);
                WorkCompletion[] one = WorkCompletion.array(1);
                // One busy thread is enough for two processors.
                boolean isPolled = polls && sides.size() == 1;
                int count = 0;
                while (count == 0 && !side.hasEnded()) {
                    if (isPolled) {
                        count = side.completions().poll(one);
                        Thread.onSpinWait();
                    } else {
                        count = side.await(one, INTERVAL);
                    }
                }
                sides.remove(side);
            } catch (RdmaException e) {
                System.err.println("not accepted: " + e.getMessage());
            }
        }
    }
}
