package io.rdma4j.acceptance.relay;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The disturbance of the RoCE packets of one direction of a relay; other packets are forwarded unchanged.
 *
 * @param loss fraction of packets that are dropped independently, 0 to 1
 * @param burstLoss fraction of packets that are dropped in bursts (Gilbert-Elliott model), 0 to 1
 * @param burstPackets mean length of a burst
 * @param duplication fraction of packets that are duplicated, 0 to 1
 * @param duplicateDelayNanos delay of the duplicate
 * @param reordering fraction of packets that are held until others have overtaken them, 0 to 1
 * @param reorderPackets maximum number of packets that overtake a held one, at least 1
 * @param corruption fraction of packets in which one bit covered by the ICRC is flipped, 0 to 1
 * @param delayNanos mean delay
 * @param jitter maximum deviation from the delay as a fraction of it, 0 to 1; it does not reorder packets
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
    /** No disturbance. */
    public static final Disturbance NONE = new Disturbance(0, 0, 1, 0, 0, 0, 1, 0, 0, 0);

    /** Returns a copy that drops packets independently. */
    public Disturbance withLoss(double fraction) {
        return with(0, fraction);
    }

    /** Returns a copy that drops packets in bursts. */
    public Disturbance withBursts(double fraction, int packets) {
        return with(1, fraction, packets);
    }

    /** Returns a copy that duplicates packets. */
    public Disturbance withDuplicates(double fraction, long afterNanos) {
        return with(3, fraction, (double) afterNanos);
    }

    /** Returns a copy that reorders packets. */
    public Disturbance withReordering(double fraction, int packets) {
        return with(5, fraction, packets);
    }

    /** Returns a copy that flips bits. */
    public Disturbance withCorruption(double fraction) {
        return with(7, fraction);
    }

    /** Returns a copy that delays packets. */
    public Disturbance withDelay(long nanos, double fraction) {
        return with(8, (double) nanos, fraction);
    }

    /** Returns a copy whose components from {@code index} on are replaced. */
    private Disturbance with(int index, double... replacements) {
        double[] components = components();
        System.arraycopy(replacements, 0, components, index, replacements.length);
        return of(components);
    }

    /** Returns all components as one word, which {@link #parse} accepts. */
    String text() {
        return Arrays.stream(components()).mapToObj(Double::toString).collect(Collectors.joining(","));
    }

    static Disturbance parse(String text) {
        return of(Arrays.stream(text.split(",", -1))
                .mapToDouble(Double::parseDouble)
                .toArray());
    }

    /** Returns all components in their order. */
    private double[] components() {
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

    private static Disturbance of(double[] components) {
        return new Disturbance(
                components[0],
                components[1],
                (int) components[2],
                components[3],
                (long) components[4],
                components[5],
                (int) components[6],
                components[7],
                (long) components[8],
                components[9]);
    }
}
