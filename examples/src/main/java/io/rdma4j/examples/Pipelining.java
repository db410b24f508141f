package io.rdma4j.examples;

import io.rdma4j.Access;
import io.rdma4j.Batch;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionOptions;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Many writes in flight at the same time: two batches that are posted alternately. */
public final class Pipelining {
    private static final long BLOCK_BYTES = 64;
    private static final int BATCH = 64;
    private static final int ROUNDS = 500;

    private Pipelining() {}

    /** Runs server and client, each in a thread, after a warm-up. */
    public static void main(String[] arguments) throws InterruptedException {
        warmUp();
        try (Listener listener = Listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            call(listener.address());
            server.join();
        }
    }

    // tag::warmup[]
    /** Makes Java compile the data path now instead of during the first writes. */
    private static void warmUp() {
        SoftStack.warmUp(Duration.ofSeconds(3));
    }
    // end::warmup[]

    private static void serve(Listener listener) {
        try (Exposed blocks = Exposed.of(Arena.ofAuto().allocate(BATCH * BLOCK_BYTES), Access.WRITE);
                Connection client = listener.accept().privateData(blocks).accept()) {
            client.awaitEnd();
        }
    }

    private static void call(InetSocketAddress address) {
        // tag::sends[]
        ConnectionOptions options = ConnectionOptions.defaults().withSends(2 * BATCH); // both batches
        // end::sends[]
        try (Connection server = Connection.to(address).options(options).connect();
                Buffer source = server.allocate(BATCH * BLOCK_BYTES)) {
            long start = System.nanoTime();
            write(server, source);
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf("%d writes of %d bytes in %.2f s%n", ROUNDS * BATCH, BLOCK_BYTES, seconds);
        }
    }

    // tag::batches[]
    private static void write(Connection server, Buffer source) {
        RemoteMemory target = server.peer().memory();
        Batch next = server.batch();
        Batch inFlight = server.batch();
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < BATCH; i++) {
                next.write(source.slice(i * BLOCK_BYTES, BLOCK_BYTES), target.slice(i * BLOCK_BYTES, BLOCK_BYTES));
            }
            next.post();
            inFlight.await(); // the previous round's batch, while the next one is in flight
            Batch posted = next;
            next = inFlight;
            inFlight = posted;
        }
        inFlight.await();
    }
    // end::batches[]
}
