package io.rdma4j.soft.report;

import io.rdma4j.soft.events.DeviceCountersEvent;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.soft.events.QueuePairCountersEvent;
import java.util.Map;
import java.util.function.Supplier;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import org.jspecify.annotations.Nullable;

/** Writes the periodic events of a stack while Flight Recorder records them. Thread safe. */
public final class CounterEvents implements AutoCloseable {
    private final @Nullable Recorder recorder;

    /**
     * Starts writing as soon as Flight Recorder is on.
     *
     * @param reports creates a report; called by a thread of Flight Recorder
     */
    public CounterEvents(Supplier<StackReport> reports) {
        recorder = FlightEvents.isPresent() ? Recorder.start(reports) : null;
    }

    /** Stops writing. */
    @Override
    public void close() {
        if (recorder != null) {
            recorder.stop();
        }
    }

    /** The part that needs the module {@code jdk.jfr}. */
    private static final class Recorder implements FlightRecorderListener {
        private final Supplier<StackReport> reports;
        private final Runnable writeDevices = this::writeDevices;
        private final Runnable writeQueuePairs = this::writeQueuePairs;
        private boolean isStopped;

        private Recorder(Supplier<StackReport> reports) {
            this.reports = reports;
        }

        static Recorder start(Supplier<StackReport> reports) {
            Recorder recorder = new Recorder(reports);
            FlightRecorder.addListener(recorder);
            return recorder;
        }

        /** Called by Flight Recorder when it is turned on, or immediately if it is already on. */
        @Override
        public synchronized void recorderInitialized(FlightRecorder flightRecorder) {
            if (!isStopped) {
                for (Class<? extends Event> event : FlightEvents.all()) {
                    FlightRecorder.register(event);
                }
                FlightRecorder.addPeriodicEvent(DeviceCountersEvent.class, writeDevices);
                FlightRecorder.addPeriodicEvent(QueuePairCountersEvent.class, writeQueuePairs);
            }
        }

        synchronized void stop() {
            isStopped = true;
            FlightRecorder.removeListener(this);
            if (FlightEvents.isOn()) {
                FlightRecorder.removePeriodicEvent(writeDevices);
                FlightRecorder.removePeriodicEvent(writeQueuePairs);
            }
        }

        private void writeDevices() {
            StackReport report = reports.get();
            for (DeviceReport device : report.devices()) {
                write(device, report);
            }
        }

        private static void write(DeviceReport device, StackReport report) {
            DeviceCountersEvent event = new DeviceCountersEvent();
            Map<String, Long> counters = device.counters();
            event.device = device.name();
            event.queuePairs = device.queuePairs();
            for (QueuePairReport queuePair : report.queuePairs()) {
                if (queuePair.device().equals(device.name())) {
                    event.sentBytes += queuePair.sentBytes();
                    event.receivedBytes += queuePair.receivedBytes();
                }
            }
            event.sentPackets = count(counters, "sent_pkts");
            event.receivedPackets = count(counters, "rcvd_pkts");
            event.droppedPackets = count(counters, "dropped_pkts");
            event.retransmittedPackets = count(counters, "retransmitted_pkts");
            event.timeouts = count(counters, "local_ack_timeout_err");
            event.receivedRnrNaks = count(counters, "rcvd_rnr_err");
            event.sentRnrNaks = count(counters, "send_rnr_err");
            event.completedSends = count(counters, "rdma_sends");
            event.completedReceives = count(counters, "rdma_recvs");
            event.commit();
        }

        private void writeQueuePairs() {
            for (QueuePairReport queuePair : reports.get().queuePairs()) {
                QueuePairCountersEvent event = new QueuePairCountersEvent();
                Map<String, Long> counters = queuePair.counters();
                event.device = queuePair.device();
                event.queuePair = FlightEvents.queuePair(queuePair.number());
                event.type = queuePair.type();
                event.state = queuePair.state();
                event.local = queuePair.local();
                event.peer = queuePair.peer();
                event.sentBytes = queuePair.sentBytes();
                event.receivedBytes = queuePair.receivedBytes();
                event.sentPackets = count(counters, "sent_pkts");
                event.receivedPackets = count(counters, "rcvd_pkts");
                event.droppedPackets = count(counters, "dropped_pkts");
                event.retransmittedPackets = count(counters, "retransmitted_pkts");
                event.timeouts = count(counters, "local_ack_timeout_err");
                event.receivedRnrNaks = count(counters, "rcvd_rnr_err");
                event.sentRnrNaks = count(counters, "send_rnr_err");
                event.completedSends = count(counters, "rdma_sends");
                event.completedReceives = count(counters, "rdma_recvs");
                event.commit();
            }
        }

        private static long count(Map<String, Long> counters, String name) {
            return counters.getOrDefault(name, 0L);
        }
    }
}
