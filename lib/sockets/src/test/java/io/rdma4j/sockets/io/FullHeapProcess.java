package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A process in which the heap fills up at a certain point. It prints what happens to its connections. */
final class FullHeapProcess {
    private static final Object[] NONE = {};
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final int REPLIES = 300_000;

    private static volatile Object[] full = NONE;
    private static volatile boolean released;
    private static volatile boolean filled;

    private FullHeapProcess() {}

    /** Runs the process. The argument names the case. */
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "events" -> events();
            case "close" -> close();
            case "connection" -> connection();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    /** Handles events of connections while the heap is full or fills up. */
    private static void events() throws InterruptedException {
        ConnectionService service = new ConnectionService(ConnectionManager.ofProcess());
        for (boolean fills : new boolean[] {false, true}) { // the first one loads the classes
            Filling target = new Filling(fills);
            CmId id = service.createId(target);
            id.resolveAddress(new InetSocketAddress(LOOPBACK, 0), Duration.ofSeconds(2));
            boolean failed = target.failed.await(20, TimeUnit.SECONDS);
            full = NONE;
            System.out.println(failed ? "failed" : "lost");
        }
    }

    private static final class Filling implements ConnectionService.Target {
        private final OutOfMemoryError fault = new OutOfMemoryError("of an event");
        private final boolean fills;
        private final CountDownLatch failed = new CountDownLatch(1);

        private Filling(boolean fills) {
            this.fills = fills;
        }

        @Override
        public void onEvent(CmEvent event) {
            if (fills) {
                fill(0);
            }
            throw fault;
        }

        @Override
        public void onFailure(CmEvent event, Throwable why) {
            full = NONE;
            failed.countDown();
        }
    }

    /** Closes a queue while there is no memory for a copy of its content. */
    private static void close() {
        ConnectData data =
                new ConnectData(false, true, 384, 0, new BufferDescriptor(0, 0, 2), new BufferDescriptor(0, 0, 2));
        ConnectionService service = new ConnectionService(ConnectionManager.ofProcess());
        AcceptQueue.Request request = new AcceptQueue.Request(service.createId(_ -> {}), data, LOOPBACK);
        AcceptQueue queue = new AcceptQueue(2, new Signal());
        StreamEndpoint endpoint = new StreamEndpoint(service, StreamSettings.DEFAULT);
        for (int i = 0; i < REPLIES; i++) {
            queue.offer(request);
            queue.nextReply(0, 0);
        }
        queue.offer(request);
        queue.connected(Objects.requireNonNull(queue.nextReply(0, 0)), endpoint);
        fill(REPLIES / 2);
        try {
            queue.close();
        } catch (OutOfMemoryError noMore) {
            queue.close();
        }
        full = NONE;
        System.out.println(endpoint.state());
    }

    /** Closes a connection while there is no memory for the wait for its peer, or for the thread that waits later. */
    private static void connection() throws IOException, InterruptedException {
        InetAddress address = RawStreamPeer.loopback();
        StreamEndpoint listener = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(2);
        for (boolean fills : new boolean[] {false, true}) { // the first one loads the classes
            RawStreamPeer peer = RawStreamPeer.connected(address, Objects.requireNonNull(listener.localAddress()));
            listener.await(Readiness.IN, System.nanoTime() + 20_000_000_000L);
            StreamEndpoint accepted = Objects.requireNonNull(listener.accept());
            StreamClosing closing = new StreamClosing(
                    accepted,
                    Objects.requireNonNull(accepted.stream()),
                    ConnectionService.ofProcess().createId(_ -> {}),
                    () -> released = true);
            released = false;
            filled = false;
            Thread freeing = Thread.ofPlatform().start(FullHeapProcess::freeLater);
            if (fills) {
                fill(0);
            }
            filled = true;
            try {
                closing.run(0, 200_000_000);
            } catch (OutOfMemoryError noMore) {
                full = NONE; // from the wait in this thread; another thread continues
            }
            freeing.join();
            for (int i = 0; i < 1000 && !released; i++) {
                Thread.sleep(10);
            }
            System.out.println(released ? "released" : "lost");
            peer.close();
        }
    }

    private static void freeLater() {
        while (!filled) {
            LockSupport.parkNanos(1_000_000);
        }
        LockSupport.parkNanos(1_000_000_000);
        full = NONE;
    }

    /** Fills the heap until there is no memory for an array of this many references. */
    private static void fill(int references) {
        int length = 1 << 20;
        while (length > references) {
            try {
                Object[] next = new Object[length];
                next[0] = full;
                full = next;
            } catch (OutOfMemoryError noMore) {
                length /= 2;
            }
        }
    }
}
