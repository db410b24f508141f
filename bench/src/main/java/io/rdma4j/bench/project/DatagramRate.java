package io.rdma4j.bench.project;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.PairTest;
import io.rdma4j.bench.worker.Parameters;
import io.rdma4j.bench.worker.StreamMeter;
import io.rdma4j.bench.worker.WorkerAddresses;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Unreliable datagrams one way. As nothing else keeps a sender from sending more than a receiver can take, a datagram with
 * the count of what has arrived comes back for each quarter of a window of 4096 messages, and while nothing comes. Parameters:
 * {@code size}, {@code batch} (messages posted one after the other, of which the last is signaled). Counted are messages
 * received.
 */
public final class DatagramRate implements PairTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long WINDOW = 4096;
    private static final int SENDS = 512;

    /** An acknowledgement: what has arrived, and whether the receiver has found nothing for a while. */
    private static final int ACKNOWLEDGEMENT_BYTES = 2 * Long.BYTES;

    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Longer than a message is under way that has left. */
    private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Creates one. */
    public DatagramRate() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (CmId listener = CmId.create(PortSpace.UDP, null)) {
            listener.bindAddress(new InetSocketAddress(WorkerAddresses.SERVER, 0));
            listener.listen(1);
            control.send(listener.sourcePort());
            CmId id = listener.getRequest();
            try (DatagramEnd end = new DatagramEnd(id, SENDS, (int) WINDOW, parameters.number("size", 64))) {
                id.accept(ConnectionParameters.NONE);
                int peer = (int) control.receive();
                control.meet();
                control.answer();
                receiveAll(control, end, peer, parameters.number("size", 64));
            }
        }
    }

    private static void receiveAll(Control control, DatagramEnd end, int peer, int size) throws IOException {
        Acknowledger acknowledger = new Acknowledger(end, peer);
        long received = 0;
        while (!control.stopped()) {
            int count = end.poll();
            for (int i = 0; i < count; i++) {
                WorkCompletion completion = end.completion(i);
                if (completion.opcode().isReceive()) {
                    acknowledger.meet(completion);
                    end.receiveAgain(completion.id());
                    received++;
                }
            }
            if (count > 0) {
                end.postReceives();
                control.count(received * size);
            } else {
                Thread.onSpinWait();
            }
            acknowledger.tell(received, count == 0);
        }
    }

    /** Tells the sender what has arrived. */
    private static final class Acknowledger {
        private final DatagramEnd end;
        private final int peer;
        private final SendWorkRequest request = new SendWorkRequest();
        private @Nullable AddressHandle back;
        private long told;
        private long lastNanos;

        Acknowledger(DatagramEnd end, int peer) {
            this.end = end;
            this.peer = peer;
        }

        /** Learns from a message where its sender is. */
        void meet(WorkCompletion completion) {
            if (back == null) {
                back = end.addressOfSender(completion);
            }
        }

        void tell(long received, boolean nothingCame) {
            AddressHandle sender = back;
            if (sender == null) {
                return;
            }
            if (!nothingCame) {
                lastNanos = 0;
                if (received - told >= WINDOW / 4) {
                    send(sender, received, false);
                }
                return;
            }
            long now = System.nanoTime();
            if (lastNanos == 0) {
                lastNanos = now;
            } else if (now - lastNanos > QUIET_NANOS) {
                lastNanos = now;
                send(sender, received, true);
            }
        }

        private void send(AddressHandle sender, long received, boolean quiet) {
            told = received;
            end.outbox().set(JAVA_LONG, 0, received);
            end.outbox().set(JAVA_LONG, Long.BYTES, quiet ? 1 : 0);
            request.reset(0).to(sender, peer, DatagramParameters.UDP_QUEUE_KEY);
            end.fill(request.signaled(), ACKNOWLEDGEMENT_BYTES);
            end.post(request);
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int size = parameters.number("size", 64);
        try (CmId id = CmId.create(PortSpace.UDP, null)) {
            id.resolveAddress(
                    new InetSocketAddress(WorkerAddresses.CLIENT, 0),
                    new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive()),
                    TIMEOUT);
            id.resolveRoute(TIMEOUT);
            try (DatagramEnd end = new DatagramEnd(id, SENDS, 64, Math.max(ACKNOWLEDGEMENT_BYTES, size))) {
                id.connect(ConnectionParameters.NONE);
                CmEvent established = Objects.requireNonNull(id.event(), "connecting leaves its event");
                DatagramParameters peer =
                        Objects.requireNonNull(established.datagram(), "an answer of a datagram service");
                control.send(end.queuePairNumber());
                control.meet();
                StreamMeter meter = new StreamMeter(control, parameters);
                long sent = new Sender(end, peer, parameters).run(meter);
                long received = control.stopPeer() / size;
                meter.report(figures, size);
                figures.add("lostShare", 1 - (double) received / sent);
            }
        }
    }

    /** Keeps a window of messages under way. */
    private static final class Sender {
        private final DatagramEnd end;
        private final DatagramParameters peer;
        private final AddressHandle handle;
        private final int size;
        private final int batch;
        private final SendWorkRequest[] requests;
        private int underWay;
        private long sent;
        private long arrived;
        private long lost;
        private long waitingSince;

        Sender(DatagramEnd end, DatagramParameters peer, Parameters parameters) {
            this.end = end;
            this.peer = peer;
            handle = end.address(peer);
            size = parameters.number("size", 64);
            batch = parameters.number("batch", 64);
            requests = new SendWorkRequest[batch];
            Arrays.setAll(requests, i -> new SendWorkRequest());
        }

        long run(StreamMeter meter) throws IOException {
            int turn = 0;
            while (turn++ % 64 != 0 || meter.running()) {
                if (underWay + batch <= SENDS && hasRoom()) {
                    postBatch();
                }
                complete(end.poll());
            }
            return sent;
        }

        private boolean hasRoom() {
            if (sent + batch - lost - arrived <= WINDOW) {
                waitingSince = 0;
                return true;
            }
            if (waitingSince == 0) {
                waitingSince = System.nanoTime();
            }
            return false;
        }

        /**
         * What has not arrived is lost, if the receiver has found nothing when all must have been there. To take for lost
         * what was only late would let more be under way than there are receives, which loses more.
         */
        private void take(MemorySegment acknowledgement) {
            arrived = acknowledgement.get(JAVA_LONG, 0);
            boolean quiet = acknowledgement.get(JAVA_LONG, Long.BYTES) != 0;
            if (quiet && waitingSince != 0 && System.nanoTime() - waitingSince > STALL_NANOS) {
                lost = sent - arrived;
            }
        }

        private void postBatch() {
            for (SendWorkRequest request : requests) {
                end.fill(request.reset(0).to(handle, peer.queuePairNumber(), peer.queueKey()), size);
            }
            requests[batch - 1].signaled();
            end.post(requests);
            underWay += batch;
            sent += batch;
        }

        private void complete(int count) {
            for (int i = 0; i < count; i++) {
                WorkCompletion completion = end.completion(i);
                if (completion.opcode().isReceive()) {
                    take(end.received(completion.id()));
                    end.receiveAgain(completion.id());
                    end.postReceives();
                } else {
                    underWay -= batch;
                }
            }
        }
    }
}
