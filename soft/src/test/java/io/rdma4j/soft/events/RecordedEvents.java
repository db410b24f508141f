package io.rdma4j.soft.events;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/** The events of this project that occur while it is open, in a recording of this process. */
final class RecordedEvents implements AutoCloseable {
    private static final int ATTEMPTS = 3;
    private static final long LIVE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final List<String> NAMES = List.of(
            "ConnectionSetup",
            "ConnectionEnd",
            "Retransmission",
            "ReceiverNotReady",
            "QueuePairError",
            "MemoryRegistration",
            "PortOwnership",
            "DeviceCounters",
            "QueuePairCounters");

    private final BlockingQueue<RecordedEvent> arrived = new LinkedBlockingQueue<>();

    /** Those that were taken from the queue. */
    private final List<RecordedEvent> seen = new ArrayList<>();

    private final RecordingStream stream;

    /** An event that shows that a stream delivers what is recorded. */
    @Name("rdma4j.test.Live")
    private static final class Live extends Event {}

    /** Starts to record all events, also short ones; periodic events come ten times a second. */
    RecordedEvents() throws InterruptedException {
        stream = startLive();
    }

    /** Starts a stream that delivers events. On a busy machine, a stream of the JDK that has just started may deliver none. */
    private RecordingStream startLive() throws InterruptedException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            CountDownLatch live = new CountDownLatch(1);
            RecordingStream started = start(live);
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < LIVE_NANOS) {
                new Live().commit();
                if (live.await(50, TimeUnit.MILLISECONDS)) {
                    return started;
                }
            }
            started.close();
        }
        throw new AssertionError("no event of " + ATTEMPTS + " streams has arrived");
    }

    private RecordingStream start(CountDownLatch live) {
        RecordingStream started = new RecordingStream();
        started.setReuse(false);
        for (String name : NAMES) {
            started.enable("rdma4j." + name).withThreshold(Duration.ZERO).withPeriod(Duration.ofMillis(100));
            started.onEvent("rdma4j." + name, arrived::add);
        }
        started.enable(Live.class);
        started.onEvent("rdma4j.test.Live", _ -> live.countDown());
        started.startAsync();
        return started;
    }

    /** Waits for an event, which may have occurred before. */
    RecordedEvent await(String name, Predicate<RecordedEvent> condition) throws InterruptedException {
        Predicate<RecordedEvent> wanted =
                event -> event.getEventType().getName().equals("rdma4j." + name) && condition.test(event);
        for (RecordedEvent event : seen) {
            if (wanted.test(event)) {
                return event;
            }
        }
        RecordedEvent next;
        while ((next = arrived.poll(20, TimeUnit.SECONDS)) != null) {
            seen.add(next);
            if (wanted.test(next)) {
                return next;
            }
        }
        throw new AssertionError("no event " + name + " in " + seen);
    }

    @Override
    public void close() {
        stream.close();
    }
}
