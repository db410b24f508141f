package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.faults.traffic.HostileDatagrams;
import io.rdma4j.faults.traffic.Sealer;
import io.rdma4j.faults.traffic.VerbsSide;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.engine.EngineCounters;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
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
 * 5: packets that no honest peer sends ({@link HostileDatagrams}), all that can have one with a right ICRC, requests with the PSN
 * that is due and answers with that of a work request under way: to a live connection that is at work, to a datagram queue
 * pair and to queue pair 1.
 *
 * <p>Nothing is thrown, every packet is counted once as delivered or dropped, and another connection goes on working. How
 * much that one loses beside the mere cost of so many packets is measured against the same packets to queue pairs that do
 * not exist, in turns, so that both see the same machine.
 */
public final class HostilePackets implements AcceptanceTest {
    private static final int MOST_CUTS_QUICK = 10_000;
    private static final double ASKED_SHARE = 0.9;
    private static final int MOST_LINES_A_SECOND = 10;

    @Override
    public int number() {
        return 5;
    }

    @Override
    public String title() {
        return "hostile packets";
    }

    @Override
    public String required(Scale scale) {
        return "0 exceptions, received = delivered + dropped, other flow >= 90 %";
    }

    @Override
    public int limitSeconds(Scale scale) {
        return scale.of(120, 900);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        Child child = Child.builder(stage, "victim", Victim.class)
                .options("-Drdma4j.security=source-port=off")
                .with("mostCuts", stage.scale().of(MOST_CUTS_QUICK, Integer.MAX_VALUE))
                .start();
        Duration limit = Duration.ofSeconds(limitSeconds(stage.scale()));
        JsonNode r = child.await("result", limit);
        long seconds = r.get("seconds").asLong();
        long packets = r.get("packets").asLong();
        long failures = r.get("failures").asLong() + exceptions(stage.folder().resolve("victim.err"), seconds);
        long received = r.get("received").asLong();
        long counted = r.get("counted").asLong();
        double share = r.get("share").asDouble();
        return Outcome.of(
                failures == 0 && received == counted && received >= 2 * packets,
                share >= ASKED_SHARE,
                "%d packets, %d connections broken by them: %d exceptions, received %d, counted %d, other flow %.0f %%"
                        .formatted(packets, r.get("broken").asLong(), failures, received, counted, 100 * share));
    }

    /** How many exceptions the process wrote down; too many lines of any kind count as one. */
    private static long exceptions(Path log, long seconds) throws IOException {
        List<String> lines = Files.readAllLines(log);
        long found = lines.stream()
                .filter(line -> line.contains("Exception") || line.startsWith("\tat "))
                .count();
        return lines.size() > MOST_LINES_A_SECOND * Math.max(1, seconds) ? found + 1 : found;
    }

    /** The process that is attacked, by a thread of its own that speaks UDP. */
    public static final class Victim implements Role {
        /** Packets after which it is the turn of harmless ones. */
        private static final int SLICE = 1000;

        private static final int ENTRIES = 4096;
        private static final long SETTLING_NANOS = 200_000_000;
        private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();

        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            List<byte[]> packets = HostileDatagrams.all((int) parent.number("mostCuts", Integer.MAX_VALUE));
            Pace ordinary = new Pace();
            Pace meanwhile = new Pace();
            long begin = System.nanoTime();
            try (VerbsSide a = new VerbsSide(ADDRESS, ENTRIES, 0);
                    VerbsSide b = new VerbsSide(ADDRESS, ENTRIES, 0);
                    Attacker attacker = new Attacker(b);
                    Flow flow = new Flow(a, b)) {
                flow.warmUp();
                attacker.send(packets.subList(0, SLICE), true); // warms up
                settle();
                Map<String, Object> result = new LinkedHashMap<>();
                EngineCounters counters = SoftDevices.engine().engines().counters();
                long received = -counters.receivedPackets;
                long counted = -accounted(counters);
                for (int from = 0; from < packets.size(); from += SLICE) {
                    List<byte[]> slice = packets.subList(from, Math.min(packets.size(), from + SLICE));
                    flow.run(meanwhile, () -> attacker.send(slice, true));
                    flow.run(ordinary, () -> attacker.send(slice, false));
                }
                settle();
                counters = SoftDevices.engine().engines().counters();
                result.put("seconds", (System.nanoTime() - begin) / 1_000_000_000);
                result.put("packets", packets.size());
                result.put("broken", attacker.broken);
                result.put("failures", counters.queuePairFailures);
                result.put("received", received + counters.receivedPackets);
                result.put("counted", counted + accounted(counters));
                result.put("share", meanwhile.perSecond() / ordinary.perSecond());
                parent.report("result", result);
            }
        }

        /** What was sent is taken in meanwhile. */
        private static void settle() {
            LockSupport.parkNanos(SETTLING_NANOS);
        }

        private static long accounted(EngineCounters c) {
            return c.deliveredPackets + c.gsiPackets + c.relayedPackets + c.relayDrops + c.dropped();
        }
    }

    /** WRITEs and the time that they took. */
    private static final class Pace {
        private long writes;
        private long nanos;

        double perSecond() {
            return writes * 1e9 / nanos;
        }
    }

    /** A job that may fail with an exception of input and output. */
    private interface Job {
        void run() throws IOException;
    }

    /** WRITEs of another connection, whose data are looked at. */
    private static final class Flow implements AutoCloseable {
        private static final int WARM_UP_WRITES = 20_000;
        private static final int BYTES = 65_536;
        private static final Duration PATIENCE = Duration.ofSeconds(20);

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

        /** Lets Java compile what both paces need alike. */
        void warmUp() {
            for (int i = 0; i < WARM_UP_WRITES; i++) {
                write();
            }
        }

        /** Writes, and counts, while a job is done by another thread. */
        void run(Pace pace, Job job) throws InterruptedException, IOException {
            AtomicBoolean done = new AtomicBoolean();
            @Nullable Throwable[] failure = new @Nullable Throwable[1];
            Thread worker = Thread.ofPlatform().start(() -> {
                try {
                    job.run();
                } catch (IOException | RuntimeException e) {
                    failure[0] = e;
                } finally {
                    done.set(true);
                }
            });
            long begin = System.nanoTime();
            while (!done.get()) {
                write();
                pace.writes++;
            }
            pace.nanos += System.nanoTime() - begin;
            worker.join();
            if (failure[0] != null) {
                throw new IOException("the attacker failed: " + failure[0], failure[0]);
            }
        }

        private void write() {
            source.memory().fill(++round);
            from.postWrite(1, source, 0, BYTES, target.address(), target.remoteKey());
            WorkCompletion completion = a.await(PATIENCE);
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

    /** Who sends them, from an address that the queue pairs take for their peer's. */
    private static final class Attacker implements AutoCloseable {
        private static final int BURST = 16;
        private static final long PAUSE_NANOS = 1_500_000;
        private static final int SENDS = 16;
        private static final int RECEIVES = 64;
        private static final int OWN_BYTES = 2048;

        /** Of what the captured datagrams are for. */
        private static final int QUEUE_KEY = 0x0123_4567;

        /** Number of all receives; that of the victim's WRITEs says how many were broken before it. */
        private static final int RECEIVE = -1;

        /** Makes a queue pair number another one of the process, which is most likely nobody's. */
        private static final int ELSEWHERE = 0x155;

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

        /** After how many of the aimed packets a connection was broken: connecting anew is no work of theirs. */
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
         * Sends them all, at a pace that the receive buffer can hold.
         *
         * @param aimed whether to queue pairs that are there; if not, connections end where the last aimed packets broke one
         */
        void send(List<byte[]> packets, boolean aimed) throws IOException {
            int sent = 0;
            int elsewhere = aimed ? 0 : ELSEWHERE;
            if (aimed) {
                brokenAfter.clear();
            }
            QueuePairAttributes psns = victim.query();
            for (byte[] packet : packets) {
                if (HostileDatagrams.isWhole(packet)) {
                    if (!HostileDatagrams.isManagement(packet)) {
                        aim(packet, psns, elsewhere);
                    }
                    sealer.seal(packet, packet.length);
                }
                channel.write(ByteBuffer.wrap(packet));
                if (++sent % BURST == 0) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                    if (!aimed && brokenAfter.get(sent)) {
                        victim.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
                    }
                    if (goOn() && aimed) {
                        brokenAfter.set(sent);
                    }
                    psns = victim.query();
                }
            }
        }

        private void aim(byte[] packet, QueuePairAttributes psns, int elsewhere) {
            Opcode opcode = Opcode.of(packet[0] & 0xff);
            boolean isDatagram = opcode != null && opcode.transport() == Opcode.Transport.UD;
            boolean isAnswer = opcode != null && opcode.isResponse();
            int number = isDatagram ? datagrams.number() : victim.number();
            HostileDatagrams.aim(packet, number ^ elsewhere, isAnswer ? psns.sendPsn() : psns.receivePsn());
        }

        /**
         * What the victim does of its own: it reads and writes, also while answers of the attacker's come. Once it has refused
         * something it takes nothing more: another one takes its place.
         *
         * @return whether it had
         */
        private boolean goOn() {
            // Success or not: whoever is attacked by one that may send what it likes has no right to either.
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
                victim.postWrite(broken, memory, 0, OWN_BYTES, memory.address() + OWN_BYTES, memory.remoteKey());
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
