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
import io.rdma4j.acceptance.traffic.MappedFile;
import io.rdma4j.acceptance.traffic.NumberedWrites;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * A process exchanges numbered WRITEs through shared memory with a series of processes, each of which is killed at a
 * random moment, some after they were stopped. Either side writes. Every acknowledged WRITE has arrived, the remaining
 * process notices each kill, and no resource of the killed processes is left.
 *
 * <p>The killed process has either the same address as the other one or a different address. With the same address, a
 * process of that address disconnects on its behalf; with a different one, a side that only receives notices by
 * probing.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class KilledInMemory implements AcceptanceTest.Body {
    /** The two mappings of the ring of the survivor to itself, which it has from the start. */
    private static final int OWN_MAPPINGS = 2;

    /** An address of the host that only killed processes have. */
    private static final String OTHER = "10.86.0.3";

    private static final int KEEP_ALIVE_MILLIS = 500;

    /** The interval of probing, 8 times at most 4 times 67 ms, the maximum time that a process is stopped, and a margin. */
    private static final long MAX_MILLIS = 3200;

    private static final int MAX_ACKNOWLEDGED = 20_000;
    private static final int MAX_DELAY_MILLIS = 30;
    private static final int MAX_STOPPED_MILLIS = 200;

    /** After this time, a process is killed regardless of what it has written. */
    private static final long MAX_WRITING_NANOS = 3_000_000_000L;

    private static final long RELEASE_MILLIS = 20_000;

    /**
     * The keys that the survivor invalidates before it is measured. The table of invalidated keys reaches its final
     * size of 2 MiB with the first few hundred keys; this growth is not caused by the killed processes.
     */
    private static final int INVALIDATED_KEYS = 2_000;

    /** The rounds between two notes of the survivor's resource usage, which distinguish growth from noise. */
    private static final int ROUNDS_PER_NOTE = 20;

    private static final long QUICK_MAX_BYTES = 4 << 20;
    private static final long FULL_MAX_BYTES = 1 << 20;
    private static final Duration LIMIT = Duration.ofSeconds(90);

    /** The properties that vary between the rounds. */
    private record Round(boolean survivorWrites, boolean isStopped, boolean hasOwnAddress, boolean polls) {
        static Round of(int index) {
            return new Round((index & 1) == 0, (index & 4) != 0, (index & 2) != 0, (index & 8) == 0);
        }
    }

    @Override
    public String required(Scale scale) {
        return kills(scale)
                + " kills of writer or receiver: every acknowledged WRITE in place, noticed in 3.2 s, no descriptor,"
                + " mapping or file left";
    }

    private static int kills(Scale scale) {
        return scale.of(6, 200);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        stage.note("seed " + seed);
        Random random = new Random(seed);
        TwoHosts hosts = stage.keep(TwoHosts.create());
        hosts.left().run("ip", "addr", "add", OTHER + "/24", "dev", TwoHosts.CABLE);
        PrivateRunDirectory directory = stage.keep(PrivateRunDirectory.create());
        Child survivor = Child.builder(stage, "survivor", Survivor.class)
                .on(hosts.left())
                .options(directory.option())
                .with("folder", stage.folder())
                .trackNativeMemory()
                .start();
        int port = survivor.await("port", LIMIT).asInt();
        int kills = kills(stage.scale());
        int warmUps = Math.max(4, kills / 10);
        ResourceUsage before = survivor.resourceUsage();
        int filesBefore = 0;
        long acknowledged = 0;
        long slowest = 0;
        for (int i = 0; i < warmUps + kills; i++) {
            if (i == warmUps) {
                before = survivor.resourceUsage();
                filesBefore = directory.size();
            }
            if (i % ROUNDS_PER_NOTE == 0) {
                stage.note(i + ": " + survivor.resourceUsage());
            }
            stage.progress("kill " + (i + 1) + " of " + (warmUps + kills));
            Round round = Round.of(i);
            try (Arena arena = Arena.ofShared()) {
                Path memory = MappedFile.create(stage.folder().resolve("memory"), NumberedWrites.BYTES);
                Path progress = MappedFile.create(stage.folder().resolve("acknowledged"), Long.BYTES);
                MemorySegment last = MappedFile.map(progress, arena);
                long millis = once(stage, hosts, directory, survivor, port, round, last, random);
                long count = last.get(ValueLayout.JAVA_LONG, 0);
                stage.note("%d: %s, %d acknowledged, noticed after %d ms".formatted(i, round, count, millis));
                String wrong = NumberedWrites.check(MappedFile.map(memory, arena), count);
                if (!wrong.isEmpty()) {
                    return Outcome.failed("kill " + i + ": " + wrong);
                }
                int left = SharedMappings.await(survivor, OWN_MAPPINGS, RELEASE_MILLIS);
                if (left > OWN_MAPPINGS) {
                    stage.note(Files.readString(Path.of("/proc/" + survivor.pid() + "/maps"))
                            .lines()
                            .filter(line -> line.contains("ring"))
                            .toList()
                            .toString());
                    stage.note(hosts.left().run("ss", "-xpa"));
                    return Outcome.failed("kill " + i + ": " + left + " mappings left, " + round);
                }
                acknowledged += count;
                slowest = Math.max(slowest, millis);
            }
        }
        int mappings = SharedMappings.await(survivor, OWN_MAPPINGS, RELEASE_MILLIS);
        ResourceUsage growth = survivor.resourceUsage().since(before);
        int files = directory.size() - filesBefore;
        return Outcome.of(
                mappings <= OWN_MAPPINGS
                        && files <= 0
                        && growth.isWithin(stage.scale().of(QUICK_MAX_BYTES, FULL_MAX_BYTES))
                        && acknowledged > kills,
                slowest <= MAX_MILLIS,
                "%d acknowledged WRITEs in place, noticed within %.2f s; left: %s, %d mappings, %+d files"
                        .formatted(acknowledged, slowest / 1000.0, growth, mappings, files));
    }

    /** Starts a process and kills it. Returns the time until the other one noticed, in milliseconds. */
    private static long once(
            TestStage stage,
            TwoHosts hosts,
            PrivateRunDirectory directory,
            Child survivor,
            int port,
            Round round,
            MemorySegment last,
            Random random)
            throws IOException, InterruptedException {
        survivor.sendLine((round.survivorWrites ? "write " : "receive ") + (round.polls ? 1 : 0));
        try (Child victim = Child.builder(stage, "victim", Victim.class)
                .on(hosts.left())
                .options(directory.option())
                .with("folder", stage.folder())
                .with("from", round.hasOwnAddress ? OTHER : TwoHosts.LEFT)
                .with("port", port)
                .with("writes", round.survivorWrites ? 0 : 1)
                .with("polls", round.polls ? 1 : 0)
                .start()) {
            victim.await("connected", LIMIT);
            survivor.await("connected", LIMIT);
            if (directory.rings().size() != 2) {
                throw new IOException("files of killed processes are left: " + directory.rings());
            }
            long begin = System.nanoTime();
            long until = random.nextInt(4) == 0 ? 0 : random.nextInt(MAX_ACKNOWLEDGED);
            while (last.get(ValueLayout.JAVA_LONG, 0) < until && System.nanoTime() - begin < MAX_WRITING_NANOS) {
                Thread.sleep(1);
            }
            Thread.sleep(random.nextInt(MAX_DELAY_MILLIS));
            if (round.isStopped) {
                victim.signal("STOP");
                Thread.sleep(random.nextInt(MAX_STOPPED_MILLIS));
            }
            begin = System.nanoTime();
            victim.kill();
            JsonNode ended = survivor.await("ended", LIMIT);
            long millis = (System.nanoTime() - begin) / 1_000_000;
            long packets = ended.get("packets").asLong();
            if (packets < last.get(ValueLayout.JAVA_LONG, 0)) {
                throw new IOException(round + ": " + packets + " packets through shared memory for "
                        + last.get(ValueLayout.JAVA_LONG, 0) + " WRITEs");
            }
            return millis;
        }
    }

    /** The process that remains. */
    public static final class Survivor implements Role {
        private final WorkCompletion[] batch = WorkCompletion.array(4);

        @Override
        public void run(Parent parent) throws IOException {
            writeToItself();
            TrafficSide.Listener listener = new TrafficSide.Listener(new InetSocketAddress(TwoHosts.LEFT, 0), 16);
            parent.report("port", listener.port());
            while (true) {
                String[] words = parent.nextCommand().split(" ", -1);
                boolean writes = words[0].equals("write");
                boolean polls = words[1].equals("1");
                try (TrafficSide side = listener.request()
                                .accept(shape(parent, writes), prepared -> prepared.postReceive(1, 0, Long.BYTES));
                        Arena arena = Arena.ofShared()) {
                    long sent = counter(side, "process_memory_sent_pkts");
                    long received = counter(side, "process_memory_rcvd_pkts");
                    side.queuePair().setKeepAlive(Duration.ofMillis(KEEP_ALIVE_MILLIS));
                    parent.report("connected", 1);
                    String reason = writes ? write(parent, side, polls, arena) : awaitEnd(side, polls);
                    Map<String, Object> report = new LinkedHashMap<>();
                    report.put("reason", reason);
                    report.put(
                            "packets",
                            writes
                                    ? counter(side, "process_memory_sent_pkts") - sent
                                    : counter(side, "process_memory_rcvd_pkts") - received);
                    parent.report("ended", report);
                }
            }
        }

        /** Creates the ring to itself, which this process may need later, to disconnect on behalf of a killed process. */
        private static void writeToItself() {
            try (Arena arena = Arena.ofShared();
                    VerbsSide side = new VerbsSide(InetAddress.ofLiteral(TwoHosts.LEFT), 4, 0);
                    MemoryRegion region = side.domain().register(arena.allocate(Long.BYTES, 8), VerbsSide.ALL)) {
                QueuePair from = side.queuePair(1, 1);
                VerbsSide.connect(side, from, side, side.queuePair(1, 1));
                from.postWrite(0, region, 0, Long.BYTES, region.remote());
                WorkCompletion written = side.await(LIMIT);
                if (!written.isSuccess()) {
                    throw new IllegalStateException("a WRITE to itself: " + written);
                }
                for (int i = 0; i < INVALIDATED_KEYS; i++) {
                    side.domain().register(region.memory(), VerbsSide.ALL).close();
                }
            }
        }

        private static long counter(TrafficSide side, String name) {
            return side.id().verbs().counters().getOrDefault(name, 0L);
        }

        private String awaitEnd(TrafficSide side, boolean polls) {
            while (!side.hasEnded()) {
                int count = polls ? side.completions().poll(batch) : side.await(batch, Duration.ofMillis(20));
                if (count > 0) {
                    return batch[0].status().name();
                }
            }
            return "DISCONNECTED";
        }
    }

    private static TrafficSide.Shape shape(Parent parent, boolean writes) {
        return writes
                ? NumberedWrites.shape()
                : NumberedWrites.shape().in(Path.of(parent.text("folder", ".")).resolve("memory"));
    }

    private static String write(Parent parent, TrafficSide side, boolean polls, Arena arena) {
        Path progress = Path.of(parent.text("folder", ".")).resolve("acknowledged");
        return new NumberedWrites(side, MappedFile.map(progress, arena), polls).write(Long.MAX_VALUE);
    }

    /** A process that is killed. */
    public static final class Victim implements Role {
        @Override
        public void run(Parent parent) {
            boolean writes = parent.number("writes", 0) == 1;
            boolean polls = parent.number("polls", 0) == 1;
            try (Arena arena = Arena.ofShared()) {
                TrafficSide side = TrafficSide.connect(
                        new InetSocketAddress(parent.text("from", TwoHosts.LEFT), 0),
                        new InetSocketAddress(TwoHosts.LEFT, (int) parent.number("port", 0)),
                        shape(parent, writes));
                parent.report("connected", 1);
                String reason = writes ? write(parent, side, polls, arena) : receive(side, polls);
                throw new IllegalStateException("exited before it was killed: " + reason);
            } catch (RdmaException e) {
                parent.report("error", String.valueOf(e.getMessage()));
            }
        }

        private static String receive(TrafficSide side, boolean polls) {
            WorkCompletion[] one = WorkCompletion.array(1);
            while (true) {
                int count = polls ? side.completions().poll(one) : side.await(one, Duration.ofSeconds(1));
                if (count > 0) {
                    return one[0].toString();
                }
            }
        }
    }
}
