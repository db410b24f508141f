package io.rdma4j.soft.warmup;

import io.rdma4j.cm.CmId;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Runs the operations of a reliable connection between two private stacks until the compilers are idle. The calling thread drives
 * both ends.
 */
public final class DataPathWarmUp {
    private static final System.Logger LOGGER = System.getLogger(DataPathWarmUp.class.getName());

    private static final int PORT = 7471;
    private static final int OPERATIONS = 16;
    private static final int[] SIZES_BYTES = {64, 4096, 65_536};
    private static final int LARGEST_BYTES = 65_536;
    private static final long ROUND_NANOS = 300_000_000;

    private final CompilerActivity compilers = new CompilerActivity();
    private final long endNanos;

    private DataPathWarmUp(Duration limit) {
        endNanos = StackClock.SYSTEM.nanoTime() + limit.toNanos();
    }

    /**
     * Warms up. A failure is logged as a debug message.
     *
     * @param limit the maximum time that it takes
     */
    public static void run(Duration limit) {
        DataPathWarmUp warmUp = new DataPathWarmUp(limit);
        try {
            do {
                warmUp.runRound();
            } while (!warmUp.isOver());
        } catch (RdmaException | ExecutionException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the warm-up has failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Runs operations over new stacks for a while. Each round therefore opens and closes stacks and a connection, and takes
     * branches that the compilers would otherwise consider impossible.
     */
    private void runRound() throws ExecutionException, InterruptedException {
        try (PrivateStacks stacks = new PrivateStacks()) {
            run(stacks);
        }
    }

    private boolean isOver() {
        return compilers.isQuiet() || StackClock.SYSTEM.nanoTime() >= endNanos;
    }

    private void run(PrivateStacks stacks) throws ExecutionException, InterruptedException {
        InetSocketAddress address = new InetSocketAddress(stacks.address(), PORT);
        try (Arena arena = Arena.ofShared();
                CompletionQueue serverQueue = completionQueue(stacks.first());
                CompletionQueue clientQueue = completionQueue(stacks.second());
                CmId listener = stacks.first().connectionManager().listen(address, attributes(serverQueue))) {
            FutureTask<CmId> accepted = new FutureTask<>(() -> accept(listener));
            Thread.ofPlatform().name("rdma4j-warm-up-server").daemon().start(accepted);
            try (CmId client = stacks.second().connectionManager().connect(address, attributes(clientQueue));
                    CmId server = accepted.get();
                    WarmUpEnd near = new WarmUpEnd(client, clientQueue, arena, LARGEST_BYTES);
                    WarmUpEnd far = new WarmUpEnd(server, serverQueue, arena, LARGEST_BYTES)) {
                exchange(near, far);
            }
        }
    }

    private static CompletionQueue completionQueue(PrivateStack stack) {
        return stack.connectionManager().devices().stream()
                .findFirst()
                .orElseThrow(() -> new RdmaException(
                        "rdma_get_devices", Errno.ENODEV, "the device of a private stack cannot be opened", ""))
                .createCompletionQueue(4 * OPERATIONS);
    }

    private static QueuePairInitAttributes attributes(CompletionQueue queue) {
        return QueuePairInitAttributes.of(new QueuePairCapabilities(2 * OPERATIONS, 2 * OPERATIONS, 1, 1, 0))
                .withCompletions(queue);
    }

    private static CmId accept(CmId listener) {
        CmId request = listener.getRequest();
        request.accept();
        return request;
    }

    private void exchange(WarmUpEnd near, WarmUpEnd far) {
        SendWorkRequest request = new SendWorkRequest();
        long roundEndNanos = StackClock.SYSTEM.nanoTime() + ROUND_NANOS;
        do {
            for (int bytes : SIZES_BYTES) {
                write(near, far, request, bytes);
                read(near, far, request, bytes);
                send(near, far, request, bytes);
                send(far, near, request, bytes);
            }
            boolean _ = compilers.isBusy();
        } while (!isOver() && StackClock.SYSTEM.nanoTime() < roundEndNanos);
    }

    private static void write(WarmUpEnd from, WarmUpEnd to, SendWorkRequest request, int bytes) {
        RemoteMemory remote = to.region().remote();
        for (int i = 0; i < OPERATIONS; i++) {
            from.post(request.reset(i)
                    .from(from.region(), 0, bytes)
                    .write(remote.address(), remote.key())
                    .signaled());
        }
        await(from, OPERATIONS, to, 0);
    }

    private static void read(WarmUpEnd from, WarmUpEnd to, SendWorkRequest request, int bytes) {
        RemoteMemory remote = to.region().remote();
        for (int i = 0; i < OPERATIONS; i++) {
            from.post(request.reset(i)
                    .from(from.region(), 0, bytes)
                    .read(remote.address(), remote.key())
                    .signaled());
        }
        await(from, OPERATIONS, to, 0);
    }

    private static void send(WarmUpEnd from, WarmUpEnd to, SendWorkRequest request, int bytes) {
        MemoryRegion message = from.region();
        for (int i = 0; i < OPERATIONS; i++) {
            to.postReceive();
            from.post(request.reset(i).from(message, 0, bytes).signaled());
        }
        await(from, OPERATIONS, to, OPERATIONS);
    }

    private static void await(WarmUpEnd one, int ofOne, WarmUpEnd other, int ofOther) {
        int missing = ofOne;
        int missingAtOther = ofOther;
        while (missing > 0 || missingAtOther > 0) {
            missing -= one.poll();
            missingAtOther -= other.poll();
        }
    }
}
