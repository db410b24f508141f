package io.rdma4j.sharing;

import org.jspecify.annotations.Nullable;

/**
 * The reason why the owner of a port refuses this process. Changed under the engine lock, and read by any thread.
 *
 * <p>An owner that does not know the message REFUSED ends the channel without a reason. Such an end can also be the exit of the
 * owner, so it is treated as a refusal only when it happens several times in a row.
 */
final class JoinRefusals {
    private static final int MAX_ENDS = 3;

    /** A reason, and whether it applies as long as the port has this owner. */
    private record Refusal(SharingException.Reason reason, String text, String hint, boolean isFinal) {}

    private volatile @Nullable Refusal last;
    private int endsInARow;

    JoinRefusals() {}

    /** Notes that this process has an owner now, or owns the port itself. */
    void onJoined() {
        endsInARow = 0;
        last = null;
    }

    /** Notes that a channel to an owner has ended, before or after the owner's welcome. */
    void onEnded(MemberLink ended) {
        if (ended.isWelcome()) {
            onJoined();
            return;
        }
        endsInARow++;
        if (ended.refusal() == RelayMessage.NO_DESCRIPTORS) {
            last = new Refusal(
                    SharingException.Reason.EXHAUSTED,
                    "has no free file descriptor for another process",
                    "Raise its limit of open files (ulimit -n) or close files there; its own connections continue",
                    false);
        } else if (ended.refusal() == RelayMessage.OTHER_VERSION) {
            last = otherVersion("has version " + ended.ownerVersion() + " of the messages by which processes share an"
                    + " address, and this process has version " + RelayMessage.VERSION);
        } else if (endsInARow >= MAX_ENDS) {
            last = otherVersion(
                    "ends the connection of this process whenever it joins, like an owner of another version");
        }
    }

    private static Refusal otherVersion(String text) {
        return new Refusal(
                SharingException.Reason.IN_USE,
                text,
                "Use one version of rdma4j in all processes of the address, or another address or network namespace",
                true);
    }

    /** Returns whether the owner has refused this process at the last attempt. */
    boolean isRefused() {
        return endsInARow > 0;
    }

    /** Returns whether further attempts fail as long as the port has this owner. */
    boolean isFinal() {
        Refusal current = last;
        return current != null && current.isFinal;
    }

    /**
     * Returns the reason for an operation that waited without success for the owner, as the rest of a sentence about
     * the owner.
     */
    SharingException failure() {
        Refusal current = last;
        if (current != null) {
            return new SharingException(current.reason, current.text, current.hint, null);
        }
        return new SharingException(
                SharingException.Reason.NO_ANSWER,
                "does not answer this process",
                "It may be stopped, by a debugger or SIGSTOP, and cannot be replaced without native access: continue or"
                        + " terminate it, and try again",
                null);
    }
}
