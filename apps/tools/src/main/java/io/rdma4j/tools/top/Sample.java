package io.rdma4j.tools.top;

import io.rdma4j.soft.report.DeviceReport;
import io.rdma4j.soft.report.QueuePairReport;
import io.rdma4j.soft.report.StackReport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The reports of all processes at one time.
 *
 * @param nanos the time, of {@link System#nanoTime}
 * @param answers the reports
 */
record Sample(long nanos, StackReader.Answers answers) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** A queue pair of a stack; a process may have several stacks. */
    private record QueuePairKey(long pid, int slot, int number) {}

    /** A device of a stack. */
    private record DeviceKey(long pid, int slot, String name) {}

    /**
     * A device with its rates since an earlier sample.
     *
     * @param stack the stack that it belongs to
     * @param report its state
     * @param sentPackets packets sent per second
     * @param receivedPackets packets received per second
     */
    record DeviceRates(StackReport stack, DeviceReport report, double sentPackets, double receivedPackets) {
        long count(String name) {
            return report.counters().getOrDefault(name, 0L);
        }
    }

    /**
     * A queue pair with its rates since an earlier sample, or since its creation if it is new.
     *
     * @param stack the stack that it belongs to
     * @param report its state
     * @param sentBytes bytes sent per second
     * @param receivedBytes bytes received per second
     * @param messages sends and receives completed per second
     * @param retransmittedPackets packets retransmitted per second
     */
    record QueuePairRates(
            StackReport stack,
            QueuePairReport report,
            double sentBytes,
            double receivedBytes,
            double messages,
            double retransmittedPackets) {
        long count(String name) {
            return report.counters().getOrDefault(name, 0L);
        }

        double bytes() {
            return sentBytes + receivedBytes;
        }
    }

    private double secondsSince(Sample earlier) {
        return (nanos - earlier.nanos) / NANOS_PER_SECOND;
    }

    /** Returns the devices with their rates since an earlier sample. */
    List<DeviceRates> devicesSince(Sample earlier) {
        Map<DeviceKey, DeviceReport> before = new HashMap<>();
        for (StackReport stack : earlier.answers.reports()) {
            for (DeviceReport device : stack.devices()) {
                before.put(new DeviceKey(stack.pid(), stack.slot(), device.name()), device);
            }
        }
        double seconds = secondsSince(earlier);
        List<DeviceRates> rates = new ArrayList<>();
        for (StackReport stack : answers.reports()) {
            for (DeviceReport device : stack.devices()) {
                DeviceReport old = before.get(new DeviceKey(stack.pid(), stack.slot(), device.name()));
                Map<String, Long> then = old == null ? Map.of() : old.counters();
                rates.add(new DeviceRates(
                        stack,
                        device,
                        grown("sent_pkts", then, device.counters()) / seconds,
                        grown("rcvd_pkts", then, device.counters()) / seconds));
            }
        }
        return rates;
    }

    /** Returns the queue pairs with their rates since an earlier sample. */
    List<QueuePairRates> queuePairsSince(Sample earlier) {
        Map<QueuePairKey, QueuePairReport> before = new HashMap<>();
        for (StackReport stack : earlier.answers.reports()) {
            for (QueuePairReport queuePair : stack.queuePairs()) {
                before.put(key(stack, queuePair), queuePair);
            }
        }
        double seconds = secondsSince(earlier);
        List<QueuePairRates> rates = new ArrayList<>();
        for (StackReport stack : answers.reports()) {
            for (QueuePairReport queuePair : stack.queuePairs()) {
                rates.add(rates(stack, queuePair, before.get(key(stack, queuePair)), seconds));
            }
        }
        return rates;
    }

    private static QueuePairKey key(StackReport stack, QueuePairReport queuePair) {
        return new QueuePairKey(stack.pid(), stack.slot(), queuePair.number());
    }

    private static QueuePairRates rates(
            StackReport stack, QueuePairReport now, @Nullable QueuePairReport before, double seconds) {
        Map<String, Long> then = before == null ? Map.of() : before.counters();
        return new QueuePairRates(
                stack,
                now,
                (now.sentBytes() - (before == null ? 0 : before.sentBytes())) / seconds,
                (now.receivedBytes() - (before == null ? 0 : before.receivedBytes())) / seconds,
                (grown("rdma_sends", then, now.counters()) + grown("rdma_recvs", then, now.counters())) / seconds,
                grown("retransmitted_pkts", then, now.counters()) / seconds);
    }

    private static double grown(String name, Map<String, Long> before, Map<String, Long> after) {
        return after.getOrDefault(name, 0L) - before.getOrDefault(name, 0L);
    }

    /** Returns the sample as a value of the JSON document. */
    Map<String, Object> toJson(Sample earlier) {
        Map<StackReport, Map<String, Object>> stacks = new LinkedHashMap<>();
        for (StackReport stack : answers.reports()) {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("pid", stack.pid());
            values.put("program", stack.program());
            values.put("slot", stack.slot());
            values.put("omittedQueuePairs", stack.omittedQueuePairs());
            values.put("devices", new ArrayList<Object>());
            values.put("queuePairs", new ArrayList<Object>());
            stacks.put(stack, values);
        }
        devicesSince(earlier)
                .forEach(device -> list(stacks, device.stack(), "devices").add(toJson(device)));
        queuePairsSince(earlier)
                .forEach(queuePair ->
                        list(stacks, queuePair.stack(), "queuePairs").add(toJson(queuePair)));
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("intervalSeconds", secondsSince(earlier));
        values.put("processes", List.copyOf(stacks.values()));
        values.put("problems", answers.problems());
        return values;
    }

    @SuppressWarnings("unchecked") // toJson has put the lists there
    private static List<Object> list(Map<StackReport, Map<String, Object>> stacks, StackReport stack, String name) {
        Map<String, Object> values = Objects.requireNonNull(stacks.get(stack));
        return (List<Object>) Objects.requireNonNull(values.get(name));
    }

    private static Map<String, Object> toJson(DeviceRates device) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", device.report().name());
        values.put("networkInterface", device.report().networkInterface());
        values.put("queuePairs", device.report().queuePairs());
        values.put("sentPacketsPerSecond", device.sentPackets());
        values.put("receivedPacketsPerSecond", device.receivedPackets());
        values.put("counters", device.report().counters());
        return values;
    }

    private static Map<String, Object> toJson(QueuePairRates queuePair) {
        QueuePairReport report = queuePair.report();
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("device", report.device());
        values.put("number", report.number());
        values.put("type", report.type());
        values.put("state", report.state());
        values.put("local", report.local());
        values.put("peer", report.peer());
        values.put("peerNumber", report.peerNumber());
        values.put("sentBytes", report.sentBytes());
        values.put("receivedBytes", report.receivedBytes());
        values.put("sentBytesPerSecond", queuePair.sentBytes());
        values.put("receivedBytesPerSecond", queuePair.receivedBytes());
        values.put("messagesPerSecond", queuePair.messages());
        values.put("retransmittedPacketsPerSecond", queuePair.retransmittedPackets());
        values.put("counters", report.counters());
        return values;
    }
}
