package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.GidText;
import io.rdma4j.value.Gid;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of one side's queue pair.
 *
 * @param localId the LID, 16 bits, 0 with RoCE
 * @param queuePair the queue pair number, 24 bits
 * @param psn the first packet sequence number that this side sends, 24 bits
 * @param gid the GID of this side
 */
record PingPongDestination(int localId, int queuePair, int psn, Gid gid) {
    /** The length of the text form in bytes, including the terminating zero. */
    static final int TEXT_BYTES = 52;

    private static final Pattern TEXT =
            Pattern.compile("([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})", Pattern.CASE_INSENSITIVE);

    /** Returns the text that the two sides exchange: LID, queue pair number, PSN and GID in hexadecimal. */
    String toText() {
        return String.format(Locale.ROOT, "%04x:%06x:%06x:%016x%016x", localId, queuePair, psn, gid.high(), gid.low());
    }

    /** Parses the form of {@link #toText}. Returns empty if the text is malformed. */
    static Optional<PingPongDestination> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String gid = matcher.group(4);
        return Optional.of(new PingPongDestination(
                Integer.parseInt(matcher.group(1), 16),
                Integer.parseInt(matcher.group(2), 16),
                Integer.parseInt(matcher.group(3), 16),
                new Gid(Long.parseUnsignedLong(gid, 0, 16, 16), Long.parseUnsignedLong(gid, 16, 32, 16))));
    }

    /** Returns the text of the lines {@code local address} and {@code remote address}. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT, "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", localId, queuePair, psn, GidText.of(gid));
    }
}
