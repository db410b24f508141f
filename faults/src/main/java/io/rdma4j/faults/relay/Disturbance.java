package io.rdma4j.faults.relay;

import java.util.ArrayList;
import java.util.List;

/**
 * What a relay does to the RoCE packets of one direction; all else passes.
 *
 * @param loss part that vanishes, each by itself, 0 to 1
 * @param burstLoss part that vanishes in bursts (model of Gilbert and Elliott), 0 to 1
 * @param burstPackets mean length of a burst
 * @param duplication part that comes twice, 0 to 1
 * @param duplicateDelayNanos how much later the second comes
 * @param reordering part that is held back until others have overtaken it, 0 to 1
 * @param reorderPackets how many do, 1 to this
 * @param corruption part of which one bit is changed that the ICRC covers, 0 to 1
 * @param delayNanos how long packets take
 * @param jitter by which part of that they differ, 0 to 1; they do not overtake one another because of it
 */
public record Disturbance(
        double loss,
        double burstLoss,
        int burstPackets,
        double duplication,
        long duplicateDelayNanos,
        double reordering,
        int reorderPackets,
        double corruption,
        long delayNanos,
        double jitter) {
    /** None. */
    public static final Disturbance NONE = new Disturbance(0, 0, 1, 0, 0, 0, 1, 0, 0, 0);

    /** The same with loss of single packets. */
    public Disturbance withLoss(double part) {
        return new Disturbance(
                part,
                burstLoss,
                burstPackets,
                duplication,
                duplicateDelayNanos,
                reordering,
                reorderPackets,
                corruption,
                delayNanos,
                jitter);
    }

    /** The same with loss in bursts. */
    public Disturbance withBursts(double part, int packets) {
        return new Disturbance(
                loss,
                part,
                packets,
                duplication,
                duplicateDelayNanos,
                reordering,
                reorderPackets,
                corruption,
                delayNanos,
                jitter);
    }

    /** The same with packets that come twice. */
    public Disturbance withDuplicates(double part, long laterNanos) {
        return new Disturbance(
                loss,
                burstLoss,
                burstPackets,
                part,
                laterNanos,
                reordering,
                reorderPackets,
                corruption,
                delayNanos,
                jitter);
    }

    /** The same with packets that are overtaken. */
    public Disturbance withReordering(double part, int packets) {
        return new Disturbance(
                loss,
                burstLoss,
                burstPackets,
                duplication,
                duplicateDelayNanos,
                part,
                packets,
                corruption,
                delayNanos,
                jitter);
    }

    /** The same with changed bits. */
    public Disturbance withCorruption(double part) {
        return new Disturbance(
                loss,
                burstLoss,
                burstPackets,
                duplication,
                duplicateDelayNanos,
                reordering,
                reorderPackets,
                part,
                delayNanos,
                jitter);
    }

    /** The same with a delay. */
    public Disturbance withDelay(long nanos, double part) {
        return new Disturbance(
                loss,
                burstLoss,
                burstPackets,
                duplication,
                duplicateDelayNanos,
                reordering,
                reorderPackets,
                corruption,
                nanos,
                part);
    }

    /** All as one word, which {@link #parse} reads. */
    String text() {
        return String.join(
                ",",
                List.of(
                        Double.toString(loss),
                        Double.toString(burstLoss),
                        Integer.toString(burstPackets),
                        Double.toString(duplication),
                        Long.toString(duplicateDelayNanos),
                        Double.toString(reordering),
                        Integer.toString(reorderPackets),
                        Double.toString(corruption),
                        Long.toString(delayNanos),
                        Double.toString(jitter)));
    }

    static Disturbance parse(String text) {
        List<Double> numbers = new ArrayList<>();
        for (String number : text.split(",", -1)) {
            numbers.add(Double.parseDouble(number));
        }
        return new Disturbance(
                numbers.get(0),
                numbers.get(1),
                numbers.get(2).intValue(),
                numbers.get(3),
                numbers.get(4).longValue(),
                numbers.get(5),
                numbers.get(6).intValue(),
                numbers.get(7),
                numbers.get(8).longValue(),
                numbers.get(9));
    }
}
