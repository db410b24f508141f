package io.rdma4j.soft.events;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/** The events of this project that occur while it is open, in a recording of this process. */
final class RecordedEvents implements AutoCloseable {
    private final RecordingStream stream = new RecordingStream();
    private final BlockingQueue<RecordedEvent> arrived = new LinkedBlockingQueue<>();

    /** The events that were taken from the queue. */
    private final List<RecordedEvent> seen = new ArrayList<>();

    /** Starts to record all events, including short ones; periodic events occur ten times a second. */
    RecordedEvents() {
        stream.setReuse(false);
        for (String name : List.of(
                "ConnectionSetup",
                "ConnectionEnd",
                "Retransmission",
                "ReceiverNotReady",
                "QueuePairError",
                "MemoryRegistration",
                "PortOwnership",
                "DeviceCounters",
                "QueuePairCounters")) {
            stream.enable("rdma4j." + name).withThreshold(Duration.ZERO).withPeriod(Duration.ofMillis(100));
            stream.onEvent("rdma4j." + name, arrived::add);
        }
        stream.startAsync();
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
