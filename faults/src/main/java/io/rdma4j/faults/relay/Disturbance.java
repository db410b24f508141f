package io.rdma4j.faults.relay;

import java.util.Arrays;
import java.util.stream.Collectors;

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
        return with(0, part);
    }

    /** The same with loss in bursts. */
    public Disturbance withBursts(double part, int packets) {
        return with(1, part, packets);
    }

    /** The same with packets that come twice. */
    public Disturbance withDuplicates(double part, long laterNanos) {
        return with(3, part, (double) laterNanos);
    }

    /** The same with packets that are overtaken. */
    public Disturbance withReordering(double part, int packets) {
        return with(5, part, packets);
    }

    /** The same with changed bits. */
    public Disturbance withCorruption(double part) {
        return with(7, part);
    }

    /** The same with a delay. */
    public Disturbance withDelay(long nanos, double part) {
        return with(8, (double) nanos, part);
    }

    /** The same with other numbers from the one at {@code place} on. */
    private Disturbance with(int place, double... others) {
        double[] numbers = numbers();
        System.arraycopy(others, 0, numbers, place, others.length);
        return of(numbers);
    }

    /** All as one word, which {@link #parse} reads. */
    String text() {
        return Arrays.stream(numbers()).mapToObj(Double::toString).collect(Collectors.joining(","));
    }

    static Disturbance parse(String text) {
        return of(Arrays.stream(text.split(",", -1))
                .mapToDouble(Double::parseDouble)
                .toArray());
    }

    /** All, in the order of the components. */
    private double[] numbers() {
        return new double[] {
            loss,
            burstLoss,
            burstPackets,
            duplication,
            duplicateDelayNanos,
            reordering,
            reorderPackets,
            corruption,
            delayNanos,
            jitter
        };
    }

    private static Disturbance of(double[] numbers) {
        return new Disturbance(
                numbers[0],
                numbers[1],
                (int) numbers[2],
                numbers[3],
                (long) numbers[4],
                numbers[5],
                (int) numbers[6],
                numbers[7],
                (long) numbers[8],
                numbers[9]);
    }
}
