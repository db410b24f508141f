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
import io.rdma4j.acceptance.traffic.NumberedWrites;
import io.rdma4j.acceptance.traffic.PassiveTarget;
import io.rdma4j.acceptance.traffic.TrafficSide;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A few processes at a time start, write to one process through shared memory and end: they close the connection, exit
 * without closing it, or are killed. The remaining process and the run directory do not grow.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class ThousandProcesses implements AcceptanceTest.Body {
    private static final int AT_ONCE = 3;
    private static final int WRITES = 100;
    private static final long QUICK_MAX_BYTES = 4 << 20;
    private static final long FULL_MAX_BYTES = 1 << 20;
    private static final long RELEASE_MILLIS = 20_000;
    private static final Duration LIMIT = Duration.ofSeconds(90);

    /** The way in which a process ends. */
    private enum End {
        /** It disconnects. */
        CLOSE,
        /** It exits while it is connected. */
        EXIT,
        /** It is killed. */
        KILL
    }

    @Override
    public String required(Scale scale) {
        return count(scale)
                + " processes, a few at a time, write through shared memory and end, exit or are killed: no descriptor, thread,"
                + " mapping or file is left, heap within 1 MiB";
    }

    private static int count(Scale scale) {
        return scale.of(10, 1000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        PrivateRunDirectory directory = stage.keep(PrivateRunDirectory.create());
        Child survivor = Child.builder(stage, "survivor", PassiveTarget.class)
                .on(hosts.left())
                .options(directory.option())
                .with("address", TwoHosts.LEFT)
                .with("bytes", NumberedWrites.BYTES)
                .trackNativeMemory()
                .start();
        int port = survivor.await("port", LIMIT).asInt();
        int count = count(stage.scale());
        int warmUps = Math.max(9, count / 10);
        run(stage, hosts, directory, port, 0, warmUps);
        awaitEnds(survivor);
        ResourceUsage before = survivor.resourceUsage();
        int filesBefore = directory.size();
        run(stage, hosts, directory, port, warmUps, count);
        int open = awaitEnds(survivor);
        int mappings = SharedMappings.await(survivor, 0, RELEASE_MILLIS);
        ResourceUsage growth = survivor.resourceUsage().since(before);
        // The next process removes the files of the last killed ones.
        int files = directory.size() - filesBefore;
        return Outcome.of(
                open == 0
                        && mappings == 0
                        && files <= 2 * AT_ONCE
                        && directory.rings().size() <= 1 + AT_ONCE
                        && growth.isWithin(stage.scale().of(QUICK_MAX_BYTES, FULL_MAX_BYTES)),
                "%d WRITEs each, all through memory; left: %s, %d connections, %d mappings, %+d files"
                        .formatted(WRITES, growth, open, mappings, files));
    }

    private static int awaitEnds(Child survivor) throws IOException, InterruptedException {
        int open = 1;
        for (long waited = 0; open > 0 && waited < RELEASE_MILLIS; waited += 100) {
            Thread.sleep(100);
            open = survivor.ask("count", "count", LIMIT).get(1).asInt();
        }
        return open;
    }

    private static void run(
            TestStage stage, TwoHosts hosts, PrivateRunDirectory directory, int port, int first, int count)
            throws IOException, InterruptedException {
        List<Child> running = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            stage.progress("process " + (i + 1) + " of " + (first + count));
            End end = End.values()[i % End.values().length];
            running.add(Child.builder(stage, "process-" + i % AT_ONCE, Visitor.class)
                    .on(hosts.left())
                    .options(directory.option(), "-XX:TieredStopAtLevel=1")
                    .with("port", port)
                    .with("end", end)
                    .start());
            if (running.size() == AT_ONCE) {
                finish(running.removeFirst());
            }
        }
        for (Child child : running) {
            finish(child);
        }
    }

    private static void finish(Child child) throws IOException, InterruptedException {
        JsonNode written = child.await("written", LIMIT);
        if (written.get(0).asLong() < WRITES) {
            throw new IOException(written.get(0).asLong() + " packets through memory for " + WRITES + " WRITEs");
        }
        if (End.valueOf(written.get(1).asText()) == End.KILL) {
            child.kill();
        } else {
            int status = child.awaitEnd(LIMIT);
            if (status != 0) {
                throw new IOException("a process exited with status " + status);
            }
        }
        child.close();
    }

    /** A process that writes and ends. */
    public static final class Visitor implements Role {
        @Override
        public void run(Parent parent) throws IOException {
            End end = End.valueOf(parent.text("end", ""));
            TrafficSide side = TrafficSide.connect(
                    new InetSocketAddress(TwoHosts.LEFT, 0),
                    new InetSocketAddress(TwoHosts.LEFT, (int) parent.number("port", 0)),
                    NumberedWrites.shape());
            MemorySegment last = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
            String wrong = new NumberedWrites(side, last, false).write(WRITES);
            if (!wrong.isEmpty()) {
                throw new IOException(wrong);
            }
            long packets = side.id().verbs().counters().getOrDefault("process_memory_sent_pkts", 0L);
            parent.report("written", List.of(packets, end.name()));
            switch (end) {
                case CLOSE -> side.close();
                case EXIT -> {}
                case KILL -> {
                    String _ = parent.nextCommand();
                }
            }
        }
    }
}
