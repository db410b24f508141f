package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/** Many writes in flight at a time, posted in batches of which only the last write is signaled. */
public final class Pipelining {
    private static final long BLOCK_BYTES = 64;
    private static final int BATCH = 32;
    private static final int BATCHES_IN_FLIGHT = 4;
    private static final int BATCHES = 1000;

    // tag::capabilities[]
    /** Queues that hold all writes in flight. */
    private static final CmQueuePairAttributes ATTRIBUTES =
            CmQueuePairAttributes.of(new QueuePairCapabilities(BATCHES_IN_FLIGHT * BATCH, 16, 1, 1, 0));
    // end::capabilities[]

    private Pipelining() {}

    /** Runs server and client, each in a thread, after a warm-up. */
    public static void main(String[] arguments) throws InterruptedException {
        warmUp();
        try (CmId listener = CmId.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CmQueuePairAttributes.defaults())) {
            Thread server = Thread.ofPlatform().start(() -> serve(listener));
            call(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()));
            server.join();
        }
    }

    // tag::warmup[]
    /** Lets Java compile the data path now, and not during the first writes. */
    private static void warmUp() {
        SoftStack.warmUp(Duration.ofSeconds(3));
    }
    // end::warmup[]

    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region =
                        new CmVerbs(connection).registerForRemoteAccess(arena.allocate(BATCH * BLOCK_BYTES))) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
        }
    }

    private static void call(InetSocketAddress server) {
        try (Arena arena = Arena.ofShared();
                CmId connection = CmId.connect(server, ATTRIBUTES);
                MemoryRegion source = new CmVerbs(connection).register(arena.allocate(BATCH * BLOCK_BYTES))) {
            RemoteMemory target = RemoteMemory.decode(connection.peerPrivateData());
            long start = System.nanoTime();
            write(Objects.requireNonNull(connection.queuePair()), source, target);
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf("%d writes of %d bytes in %.2f s%n", BATCHES * BATCH, BLOCK_BYTES, seconds);
            connection.disconnect();
        }
    }

    // tag::batches[]
    private static void write(QueuePair queuePair, MemoryRegion source, RemoteMemory target) {
        SendWorkRequest[] batch = new SendWorkRequest[BATCH];
        for (int i = 0; i < BATCH; i++) {
            batch[i] = new SendWorkRequest()
                    .reset(i)
                    .write(target.address() + i * BLOCK_BYTES, target.key())
                    .from(source, i * BLOCK_BYTES, BLOCK_BYTES);
        }
        batch[BATCH - 1].signaled(); // its completion says that the others are done, too
        WorkCompletion[] completions = WorkCompletion.array(BATCHES_IN_FLIGHT);
        int posted = 0;
        int completed = 0;
        while (completed < BATCHES) {
            if (posted < BATCHES && posted - completed < BATCHES_IN_FLIGHT) {
                queuePair.postSends(batch, BATCH);
                posted++;
            }
            int count = queuePair.sendCompletions().poll(completions);
            for (int i = 0; i < count; i++) {
                if (!completions[i].isSuccess()) {
                    throw new IllegalStateException(queuePair.explain(completions[i].status()));
                }
            }
            completed += count;
        }
    }
    // end::batches[]
}
