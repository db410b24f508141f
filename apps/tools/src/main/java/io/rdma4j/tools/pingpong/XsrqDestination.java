package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.GidText;
import io.rdma4j.value.Gid;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of one side of an extended reliable connection.
 *
 * @param localId the LID, 16 bits, 0 with RoCE
 * @param target the number of the queue pair that receives, 24 bits
 * @param initiator the number of the queue pair that sends, 24 bits
 * @param psn the first packet sequence number that this side sends, 24 bits
 * @param sharedReceiveQueue the number of this side's shared receive queue, which messages to this side carry, 24 bits
 * @param gid the GID of this side
 */
record XsrqDestination(int localId, int target, int initiator, int psn, int sharedReceiveQueue, Gid gid) {
    /** The length of the text form in bytes, including the terminating zero. */
    static final int TEXT_BYTES = 66;

    private static final String NUMBER = "([0-9a-f]{6}):";
    private static final Pattern TEXT =
            Pattern.compile("([0-9a-f]{4}):" + NUMBER.repeat(4) + "([0-9a-f]{32})", Pattern.CASE_INSENSITIVE);

    /** Returns the text that the two sides exchange. */
    String toText() {
        return String.format(
                Locale.ROOT,
                "%04x:%06x:%06x:%06x:%06x:%016x%016x",
                localId,
                target,
                initiator,
                psn,
                sharedReceiveQueue,
                gid.high(),
                gid.low());
    }

    /** Parses the form of {@link #toText}. Returns empty if the text is malformed. */
    static Optional<XsrqDestination> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String gid = matcher.group(6);
        return Optional.of(new XsrqDestination(
                number(matcher, 1),
                number(matcher, 2),
                number(matcher, 3),
                number(matcher, 4),
                number(matcher, 5),
                new Gid(Long.parseUnsignedLong(gid, 0, 16, 16), Long.parseUnsignedLong(gid, 16, 32, 16))));
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group), 16);
    }

    /** Returns the text of C's lines. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "LID %04x, QPN RECV %06x SEND %06x, PSN %06x, SRQN %06x, GID %s",
                localId,
                target,
                initiator,
                psn,
                sharedReceiveQueue,
                GidText.of(gid));
    }
}
