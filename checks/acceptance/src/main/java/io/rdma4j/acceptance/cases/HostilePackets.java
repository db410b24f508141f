package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.HostileDatagrams;
import io.rdma4j.acceptance.traffic.Sealer;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.sharing.SharingCounters;
import io.rdma4j.soft.device.RunningStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.EngineCounters;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * {@link HostileDatagrams} are sent to an active connection, to a datagram queue pair and to queue pair 1. All long
 * enough have a correct ICRC; requests have the expected PSN, and responses the PSN of an outstanding work request.
 *
 * <p>No exception is thrown, every packet is counted once as delivered or dropped, and another connection continues. To
 * separate the effect on that connection from the cost of the packets themselves, the same packets are alternately sent
 * to queue pairs that do not exist.
 */
public final class HostilePackets implements AcceptanceTest.Body {
    private static final int QUICK_MAX_TRUNCATED = 10_000;
    private static final double REQUIRED_SHARE = 0.9;
    private static final int MAX_LINES_PER_SECOND = 10;

    @Override
    public String required(Scale scale) {
        return "0 exceptions, received = delivered + dropped, other flow >= 90 %";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        Child child = Child.builder(stage, "victim", Victim.class)
                .options("-Drdma4j.security=source-port=off")
                .with("maxCuts", stage.scale().of(QUICK_MAX_TRUNCATED, Integer.MAX_VALUE))
                .start();
        Duration limit = stage.limit();
        JsonNode result = child.await("result", limit);
        long seconds = result.get("seconds").asLong();
        long packets = result.get("packets").asLong();
        long failures =
                result.get("failures").asLong() + exceptions(stage.folder().resolve("victim.err"), seconds);
        long received = result.get("received").asLong();
        long counted = result.get("counted").asLong();
        double share = result.get("share").asDouble();
        return Outcome.of(
                failures == 0 && received == counted && received >= 2 * packets,
                share >= REQUIRED_SHARE,
                "%d packets, %d connections broken: %d exceptions, received %d, counted %d, other flow %.0f %%"
                        .formatted(packets, result.get("broken").asLong(), failures, received, counted, 100 * share));
    }

    /** Returns the number of exceptions in the log. Too many lines of any kind are treated as one exception. */
    private static long exceptions(Path log, long seconds) throws IOException {
        List<String> lines = Files.readAllLines(log);
        long found = lines.stream()
                .filter(line -> line.contains("Exception") || line.startsWith("\tat "))
                .count();
        return lines.size() > MAX_LINES_PER_SECOND * Math.max(1, seconds) ? found + 1 : found;
    }

    /** The attacked process, which also runs the attacker in a thread with a UDP socket. */
    public static final class Victim implements Role {
        /** Packets after which the destination alternates. */
        private static final int SLICE = 1000;

        private static final int ENTRIES = 4096;
        private static final long SETTLING_NANOS = 200_000_000;
        private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            List<byte[]> packets = HostileDatagrams.all((int) parent.number("maxCuts", Integer.MAX_VALUE));
            Rate reference = new Rate();
            Rate attacked = new Rate();
            long begin = System.nanoTime();
            try (VerbsSide a = new VerbsSide(ADDRESS, ENTRIES, 0);
                    VerbsSide b = new VerbsSide(ADDRESS, ENTRIES, 0);
                    Attacker attacker = new Attacker(b);
                    Flow flow = new Flow(a, b)) {
                flow.warmUp();
                attacker.send(packets.subList(0, SLICE), true); // warms up
                settle();
                Map<String, Object> report = new LinkedHashMap<>();
                RunningStack stack = StackAccess.devices(ProcessStack.stack()).running();
                EngineCounters counters = stack.engines().counters();
                long received = -counters.receivedPackets;
                long counted = -accounted(counters, stack.sharing().counters());
                for (int from = 0; from < packets.size(); from += SLICE) {
                    List<byte[]> slice = packets.subList(from, Math.min(packets.size(), from + SLICE));
                    flow.run(attacked, () -> attacker.send(slice, true));
                    flow.run(reference, () -> attacker.send(slice, false));
                }
                settle();
                counters = stack.engines().counters();
                report.put("seconds", (System.nanoTime() - begin) / 1_000_000_000);
                report.put("packets", packets.size());
                report.put("broken", attacker.broken);
                report.put("failures", counters.queuePairFailures);
                report.put("received", received + counters.receivedPackets);
                report.put(
                        "counted", counted + accounted(counters, stack.sharing().counters()));
                report.put("share", attacked.perSecond() / reference.perSecond());
                parent.report("result", report);
            }
        }

        /** Waits until all packets are received. */
        private static void settle() {
            LockSupport.parkNanos(SETTLING_NANOS);
        }

        private static long accounted(EngineCounters c, SharingCounters shared) {
            return c.deliveredPackets + c.gsiPackets + shared.relayedPackets + shared.relayDrops + c.dropped();
        }
    }

    /** WRITEs and the time that they took. */
    private static final class Rate {
        private long writes;
        private long nanos;

        double perSecond() {
            return writes * 1e9 / nanos;
        }
    }

    /** A task that may throw an IOException. */
    private interface Task {
        void run() throws IOException;
    }

    /** WRITEs of another connection, whose data is checked. */
    private static final class Flow implements AutoCloseable {
        private static final int WARM_UP_WRITES = 20_000;
        private static final int BYTES = 65_536;
        private static final Duration WAIT_LIMIT = Duration.ofSeconds(20);

        private final VerbsSide a;
        private final QueuePair from;
        private final QueuePair to;
        private final MemoryRegion source;
        private final MemoryRegion target;
        private byte round;

        Flow(VerbsSide a, VerbsSide b) {
            this.a = a;
            from = a.queuePair(4, 1);
            to = b.queuePair(4, 1);
            VerbsSide.connect(a, from, b, to);
            source = a.domain().register(Arena.ofAuto().allocate(BYTES), VerbsSide.ALL);
            target = b.domain().register(Arena.ofAuto().allocate(BYTES), VerbsSide.ALL);
        }

        /** Writes until the code that both measurements use is compiled. */
        void warmUp() {
            for (int i = 0; i < WARM_UP_WRITES; i++) {
                write();
            }
        }

        /** Writes and counts while another thread runs a task. */
        void run(Rate rate, Task task) throws InterruptedException, IOException {
            AtomicBoolean done = new AtomicBoolean();
            @Nullable Throwable[] failure = new @Nullable Throwable[1];
            Thread worker = Thread.ofPlatform().start(() -> {
                try {
                    task.run();
                } catch (IOException | RuntimeException e) {
                    failure[0] = e;
                } finally {
                    done.set(true);
                }
            });
            long begin = System.nanoTime();
            while (!done.get()) {
                write();
                rate.writes++;
            }
            rate.nanos += System.nanoTime() - begin;
            worker.join();
            if (failure[0] != null) {
                throw new IOException("the attacker failed: " + failure[0], failure[0]);
            }
        }

        private void write() {
            source.memory().fill(++round);
            from.postWrite(1, source, 0, BYTES, target.remote());
            WorkCompletion completion = a.await(WAIT_LIMIT);
            if (!completion.isSuccess() || source.memory().mismatch(target.memory()) >= 0) {
                throw new IllegalStateException("a WRITE of the other connection ended with " + completion.status());
            }
        }

        @Override
        public void close() {
            from.close();
            to.close();
        }
    }

    /** The sender of the packets, from an address that the queue pairs accept as their peer's. */
    private static final class Attacker implements AutoCloseable {
        private static final int BURST = 16;
        private static final long PAUSE_NANOS = 1_500_000;
        private static final int SENDS = 16;
        private static final int RECEIVES = 64;
        private static final int OWN_BYTES = 2048;

        /** The queue key of the captured datagrams. */
        private static final int QUEUE_KEY = 0x0123_4567;

        /** ID of all receives. The ID of the victim's WRITEs is the number of connections broken before. */
        private static final int RECEIVE = -1;

        /** Changes a queue pair number of the process to one that is most likely unused. */
        private static final int UNUSED_NUMBER_MASK = 0x155;

        private final VerbsSide side;
        private final DatagramChannel channel;
        private final Sealer sealer;
        private final QueuePair peer;
        private final QueuePair datagrams;
        private final MemoryRegion memory;
        private final WorkCompletion[] completions = WorkCompletion.array(SENDS);
        private QueuePair victim;
        private final ReceiveWorkRequest request = new ReceiveWorkRequest();
        private int writing;
        private int broken;

        /**
         * Numbers of aimed packets after which a connection was broken, because reconnecting is not part of their cost.
         */
        private final BitSet brokenAfter = new BitSet();

        Attacker(VerbsSide side) throws IOException {
            this.side = side;
            channel = DatagramChannel.open();
            channel.bind(new InetSocketAddress(Victim.ADDRESS, 0));
            channel.connect(new InetSocketAddress(Victim.ADDRESS, Frame.UDP_PORT));
            sealer = new Sealer(Victim.ADDRESS, channel.socket().getLocalPort(), Victim.ADDRESS);
            memory = side.domain().register(Arena.ofAuto().allocate(2L * OWN_BYTES), VerbsSide.ALL);
            datagrams = side.datagramQueuePair(1, RECEIVES, QUEUE_KEY);
            for (int i = 0; i < RECEIVES; i++) {
                postReceive();
            }
            peer = side.queuePair(1, 1);
            victim = side.queuePair(SENDS, SENDS);
            VerbsSide.connect(side, peer, side, victim);
        }

        /**
         * Sends all packets at a rate that the receive buffer can hold.
         *
         * @param aimed {@code true} to address existing queue pairs; otherwise connections are broken after the same
         *     packets as in the last aimed run
         */
        void send(List<byte[]> packets, boolean aimed) throws IOException {
            int sent = 0;
            int numberMask = aimed ? 0 : UNUSED_NUMBER_MASK;
            if (aimed) {
                brokenAfter.clear();
            }
            QueuePairAttributes psns = victim.query();
            for (byte[] packet : packets) {
                if (HostileDatagrams.isComplete(packet)) {
                    if (!HostileDatagrams.isManagement(packet)) {
                        aim(packet, psns, numberMask);
                    }
                    sealer.seal(packet, packet.length);
                }
                channel.write(ByteBuffer.wrap(packet));
                if (++sent % BURST == 0) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                    if (!aimed && brokenAfter.get(sent)) {
                        victim.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
                    }
                    if (continueVictim() && aimed) {
                        brokenAfter.set(sent);
                    }
                    psns = victim.query();
                }
            }
        }

        private void aim(byte[] packet, QueuePairAttributes psns, int numberMask) {
            Opcode opcode = Opcode.of(packet[0] & 0xff);
            boolean isDatagram = opcode != null && opcode.transport() == Opcode.Transport.UD;
            boolean isResponse = opcode != null && opcode.isResponse();
            int number = isDatagram ? datagrams.number() : victim.number();
            HostileDatagrams.aim(packet, number ^ numberMask, isResponse ? psns.sendPsn() : psns.receivePsn());
        }

        /**
         * Lets the victim read and write while forged responses arrive. A victim in the error state is replaced.
         *
         * @return {@code true} if the victim was in the error state
         */
        private boolean continueVictim() {
            // The status is ignored, because an attacker with all secrets may cause either.
            for (int count; (count = side.completions().poll(completions)) > 0; ) {
                for (int i = 0; i < count; i++) {
                    if (completions[i].id() == RECEIVE) {
                        postReceive();
                    } else if (completions[i].id() == broken) {
                        writing--;
                    }
                }
            }
            boolean isBroken = victim.state() == QueuePairState.ERROR;
            if (isBroken) {
                broken++;
                QueuePair old = victim;
                victim = side.queuePair(SENDS, SENDS);
                peer.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                VerbsSide.connect(side, peer, side, victim);
                old.close();
                writing = 0;
            }
            if (writing < SENDS) {
                writing++;
                victim.postWrite(
                        broken,
                        memory,
                        0,
                        OWN_BYTES,
                        new RemoteMemory(memory.address() + OWN_BYTES, memory.remoteKey(), OWN_BYTES));
            }
            return isBroken;
        }

        private void postReceive() {
            datagrams.postReceive(request.reset(RECEIVE).into(memory, 0, 2L * OWN_BYTES));
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
