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
import io.rdma4j.value.PortSpace;
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
 * Unreliable datagrams in one direction.
 *
 * <p>Datagrams have no flow control. The receiver therefore returns a datagram with the number of
 * received messages, for each quarter of a window of 4096 messages, and periodically while none arrive. Parameters:
 * {@code size}, {@code batch} (messages posted one after the other, of which the last is signaled). The figures count
 * received messages.
 */
public final class DatagramRate implements PairTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long WINDOW = 4096;
    private static final int SENDS = 512;

    /** Size of an acknowledgement: the number of received messages, and whether the receiver was idle for a while. */
    private static final int ACKNOWLEDGEMENT_BYTES = 2 * Long.BYTES;

    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Longer than a sent message remains in flight. */
    private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Creates the measurement. */
    public DatagramRate() {}

    @Override
    public void serve(Control control, Parameters parameters) throws Exception {
        try (CmId listener = CmId.create(PortSpace.UDP)) {
            listener.bindAddress(new InetSocketAddress(WorkerAddresses.SERVER, 0));
            listener.listen(1);
            control.send(listener.sourcePort());
            CmId id = listener.getRequest();
            try (DatagramEnd end = new DatagramEnd(id, SENDS, (int) WINDOW, parameters.number("size", 64))) {
                id.accept(ConnectionParameters.NONE);
                int peer = (int) control.receive();
                control.awaitPeer();
                control.serveQueries();
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
                    acknowledger.setSender(completion);
                    end.prepareReceive(completion.id());
                    received++;
                }
            }
            if (count > 0) {
                end.postReceives();
                control.count(received * size);
            } else {
                Thread.onSpinWait();
            }
            acknowledger.update(received, count == 0);
        }
    }

    /** Acknowledges received messages to the sender. */
    private static final class Acknowledger {
        private final DatagramEnd end;
        private final int peer;
        private final SendWorkRequest request = new SendWorkRequest();
        private @Nullable AddressHandle senderHandle;
        private long acknowledged;
        private long lastNanos;

        Acknowledger(DatagramEnd end, int peer) {
            this.end = end;
            this.peer = peer;
        }

        /** Determines the sender's address from its first message. */
        void setSender(WorkCompletion completion) {
            if (senderHandle == null) {
                senderHandle = end.senderAddress(completion);
            }
        }

        void update(long received, boolean idle) {
            AddressHandle sender = senderHandle;
            if (sender == null) {
                return;
            }
            if (!idle) {
                lastNanos = 0;
                if (received - acknowledged >= WINDOW / 4) {
                    send(sender, received, false);
                }
                return;
            }
            long now = System.nanoTime();
            if (lastNanos == 0) {
                lastNanos = now;
            } else if (now - lastNanos > IDLE_NANOS) {
                lastNanos = now;
                send(sender, received, true);
            }
        }

        private void send(AddressHandle sender, long received, boolean idle) {
            acknowledged = received;
            end.outbox().set(JAVA_LONG, 0, received);
            end.outbox().set(JAVA_LONG, Long.BYTES, idle ? 1 : 0);
            request.reset(0).to(sender, peer, DatagramParameters.UDP_QUEUE_KEY);
            end.fill(request.signaled(), ACKNOWLEDGEMENT_BYTES);
            end.post(request);
        }
    }

    @Override
    public void drive(Control control, Parameters parameters, Figures figures) throws Exception {
        int size = parameters.number("size", 64);
        try (CmId id = CmId.create(PortSpace.UDP)) {
            id.resolveAddress(
                    new InetSocketAddress(WorkerAddresses.CLIENT, 0),
                    new InetSocketAddress(WorkerAddresses.SERVER, (int) control.receive()),
                    TIMEOUT);
            id.resolveRoute(TIMEOUT);
            try (DatagramEnd end = new DatagramEnd(id, SENDS, 64, Math.max(ACKNOWLEDGEMENT_BYTES, size))) {
                id.connect(ConnectionParameters.NONE);
                CmEvent established = Objects.requireNonNull(id.event(), "connect has no event");
                DatagramParameters peer = ((CmEvent.ServiceResolved) established).datagram();
                control.send(end.queuePairNumber());
                control.awaitPeer();
                StreamMeter meter = new StreamMeter(control, parameters);
                long sent = new Sender(end, peer, parameters).run(meter);
                long received = control.stopPeer() / size;
                meter.report(figures, size);
                figures.add("lostShare", 1 - (double) received / sent);
            }
        }
    }

    /** Keeps a window of messages in flight. */
    private static final class Sender {
        private final DatagramEnd end;
        private final DatagramParameters peer;
        private final AddressHandle handle;
        private final int size;
        private final int batch;
        private final SendWorkRequest[] requests;
        private int inFlight;
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
            int iteration = 0;
            while (iteration++ % 64 != 0 || meter.running()) {
                if (inFlight + batch <= SENDS && hasRoom()) {
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
         * Counts all unacknowledged messages as lost if the receiver is still idle when all should have arrived.
         *
         * <p>If late messages were counted as lost, more messages would be in flight than there are receives, and more
         * would be lost.
         */
        private void onAcknowledgement(MemorySegment acknowledgement) {
            arrived = acknowledgement.get(JAVA_LONG, 0);
            boolean idle = acknowledgement.get(JAVA_LONG, Long.BYTES) != 0;
            if (idle && waitingSince != 0 && System.nanoTime() - waitingSince > STALL_NANOS) {
                lost = sent - arrived;
            }
        }

        private void postBatch() {
            for (SendWorkRequest request : requests) {
                end.fill(request.reset(0).to(handle, peer.queuePairNumber(), peer.queueKey()), size);
            }
            requests[batch - 1].signaled();
            end.post(requests);
            inFlight += batch;
            sent += batch;
        }

        private void complete(int count) {
            for (int i = 0; i < count; i++) {
                WorkCompletion completion = end.completion(i);
                if (completion.opcode().isReceive()) {
                    onAcknowledgement(end.received(completion.id()));
                    end.prepareReceive(completion.id());
                    end.postReceives();
                } else {
                    inFlight -= batch;
                }
            }
        }
    }
}
