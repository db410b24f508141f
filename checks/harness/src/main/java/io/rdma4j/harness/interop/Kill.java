package io.rdma4j.harness.interop;

import static io.rdma4j.harness.interop.InteropStage.requireBetween;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Stage;
import io.rdma4j.harness.interop.Peer.Role;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;

/**
 * SIGKILL under traffic. The survivor's oldest send fails after 8 to 32 acknowledgement timeouts (7 retries, each of which may take up
 * to four timeouts). All other work requests are flushed immediately, and DISCONNECTED follows after its DREQ.
 *
 * @param family the addresses of the connection
 * @param victim the process that is killed
 * @param first the process that starts first; it owns the port if both are on one address
 * @param exponent the exponent of the acknowledgement timeout
 * @param responder the process that replies to the survivor's DREQ
 */
record Kill(Family family, Role victim, Role first, int exponent, Responder responder) implements InteropCases.Body {
    /** The process that replies to a DREQ. */
    enum Responder {
        /** The survivor, or the next owner of the port, at the victim's address. */
        NEIGHBOUR,
        /** Another process at the victim's address. */
        BYSTANDER,
        /** None: the connection manager gives up after 16 intervals. */
        NOBODY
    }

    /** The status of a survivor that has lost its peer as expected. */
    private static final int LOST = 3;

    private static final int RECEIVES = 32;
    private static final int CM_REPETITIONS = 16;

    /** The peer's response timeout has the exponent 20, which Linux counts as 2^12 ms. */
    private static final long CM_INTERVAL_MILLIS = 4096;

    /** The notification of an exit may arrive before the error completion, and before the DREQ. */
    private static final long EARLIEST_MILLIS = -75_000;

    @Override
    public void run(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        Peer.Connection peers = Peer.connect(stage, family, first, "ack=" + exponent, "patient");
        Peer dying = peers.of(victim);
        Peer survivor = peers.of(victim.other());
        if (responder == Responder.BYSTANDER) {
            String address = stage.address(dying.side(), family);
            Rping.serve(stage, "bystander", dying.side(), Rping.PORT + 1, "-a", address);
        }
        Thread.sleep(Duration.ofMillis(1500));
        boolean isOwner = stage.ownsPort(dying.process(), dying.side());
        boolean isOwnerExpected = first == victim || stage.server != stage.client;
        Stage.require(isOwner == isOwnerExpected, "it is " + isOwner + " that the victim owns the port");
        requireLoss(stage, survivor, dying.kill());
        requireDisconnection(stage, survivor);
    }

    private void requireLoss(InteropStage stage, Peer survivor, long killedMillis)
            throws CaseFailure, IOException, InterruptedException {
        long timeoutMicros = (4096L << exponent) / 1000;
        long flushed = survivor.await("FLUSHED", (int) (timeoutMicros * 32 / 1_000_000) + 10);
        long lost = survivor.await("LOST", 0);
        stage.stage.remark(survivor.field("lost") + " after " + seconds(lost - killedMillis));
        // The last acknowledgement may have arrived just before the kill, and a busy machine may wake the process late.
        requireBetween(
                "the error completion",
                lost - killedMillis,
                timeoutMicros * 8 / 1000 - 100,
                timeoutMicros * 32 / 1000 + 1000);
        requireBetween("the flush", flushed - lost, 0, 500);
        String receives = survivor.field("flushed-receives");
        Stage.require(
                receives.equals(Integer.toString(RECEIVES)), receives + " of " + RECEIVES + " receives flushed");
    }

    private void requireDisconnection(InteropStage stage, Peer survivor)
            throws CaseFailure, IOException, InterruptedException {
        // The side that connected adds the path in both directions, half an acknowledgement timeout each.
        long interval = CM_INTERVAL_MILLIS + (victim == Role.SERVER ? 1L << exponent - 8 : 0);
        boolean isAnswered = responder != Responder.NOBODY;
        long end = CM_REPETITIONS * interval;
        long began = survivor.await("DISCONNECTING", 20);
        long took = survivor.await("DISCONNECTED", isAnswered ? 20 : (int) (end / 1000) + 20) - began;
        String status = survivor.field("status");
        stage.stage.remark("DISCONNECTED " + status + (took < 0 ? " before the DREQ" : " " + seconds(took) + " after the DREQ"));
        switch (responder) {
            case NEIGHBOUR -> requireBetween("DISCONNECTED", took, EARLIEST_MILLIS, 8000);
            // The DREQ comes from another process at the victim's address (decision 028).
            case BYSTANDER -> requireBetween("DISCONNECTED", took, EARLIEST_MILLIS, 0);
            case NOBODY -> requireBetween("DISCONNECTED", took, end - 500, end + 3000);
        }
        String expected = isAnswered ? "0" : "-110";
        Stage.require(status.equals(expected), "DISCONNECTED with status " + status + ", expected " + expected);
        InteropStage.requireEnd(survivor.process(), 10);
        survivor.process().requireStatus(LOST);
        Stage.require(survivor.process().err().isEmpty(), "the survivor complained: " + survivor.process().err());
    }

    /** Returns a time in seconds. */
    static String seconds(long millis) {
        return String.format(Locale.ROOT, "%.3f s", millis / 1000.0);
    }
}
