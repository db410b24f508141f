package io.rdma4j.soft.engine;

import io.rdma4j.link.LinkSet;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.verbs.spi.UnacknowledgedEvents;
import io.rdma4j.verbs.wait.Waiter;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process whose heap is completely full at a certain point of its work. */
public final class FullHeapProcess {
    private static final Object[] NONE = {};

    private static final int QUEUES = 40;
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static Object[] full = NONE;
    private static int calls;

    private FullHeapProcess() {}

    /** Runs the process; the argument names its work. */
    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "fault" -> handleFault();
            case "lead" -> lead();
            case "acknowledge" -> acknowledge();
            case "report" -> report();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("= " + calls);
    }

    /** The work of a shared thread fails. */
    private static void handleFault() {
        OutOfMemoryError fault = new OutOfMemoryError("of the work");
        SharedThread.run(() -> {
            calls++;
            if (calls == 1) {
                fill();
                throw fault;
            }
            full = NONE;
            return false;
        });
    }

    /** A thread that yields is about to lead. */
    private static void lead() {
        LinkSet links = (LinkSet) Proxy.newProxyInstance(
                LinkSet.class.getClassLoader(), new Class<?>[] {LinkSet.class}, (_, _, _) -> null);
        WaitCoordinator waits =
                new WaitCoordinator(StackAccess.devices(ProcessStack.stack()).engine(), links, "progress-test");
        lead(waits, () -> {}); // loads the classes
        lead(waits, FullHeapProcess::fill);
    }

    /** The wait ends at the third check; after the second one, the thread becomes the leader. */
    private static void lead(WaitCoordinator waits, Runnable before) {
        calls = 0;
        var _ = waits.await(
                new Waiter(true),
                () -> {
                    calls++;
                    if (calls == 2) {
                        before.run();
                    } else {
                        full = NONE;
                    }
                    return calls > 2;
                },
                Long.MAX_VALUE);
    }

    /** A program acknowledges an event. */
    private static void acknowledge() {
        UnacknowledgedEvents events = new UnacknowledgedEvents();
        events.add();
        fill();
        events.acknowledge(1);
        full = NONE;
        calls = events.count();
    }

    /** Reports more completions to a channel than it has had events before. */
    private static void report() {
        List<QueuePair> failed = new ArrayList<>();
        ReceiveWorkRequest request = new ReceiveWorkRequest();
        try (SoftStack stack = SoftStack.create();
                DeviceContext context = stack.devices().getFirst().open()) {
            CompletionChannel channel = context.createCompletionChannel();
            ProtectionDomain domain = context.createProtectionDomain();
            for (int i = 0; i < QUEUES; i++) {
                CompletionQueue completions = context.createCompletionQueue(4, channel);
                failed.add(domain.createQueuePair(QueuePairInitAttributes.of(
                        QueuePairType.RELIABLE_CONNECTION, completions, new QueuePairCapabilities(1, 1, 1, 1, 0))));
                failed.getLast().modify(new QueuePairAttributes().state(QueuePairState.ERROR));
                failed.getLast().postReceive(request); // is flushed; the queue allocates its only slot
                completions.requestNotification(false);
            }
            fill();
            for (int i = 0; i < QUEUES; i++) {
                failed.get(i).postReceive(request);
            }
            full = NONE;
            CompletionQueue reported = channel.await(PATIENCE);
            while (reported != null) {
                reported.acknowledgeEvents(1);
                calls++;
                reported = channel.await(PATIENCE);
            }
        }
    }

    private static void fill() {
        int length = 1 << 20;
        while (length > 0) {
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
