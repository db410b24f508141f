package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.GidText;
import io.rdma4j.verbs.Gid;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where one side's queue pair is.
 *
 * @param localId LID, 16 bits; 0 with RoCE
 * @param queuePair its number, 24 bits
 * @param psn the first packet sequence number that this side sends, 24 bits
 * @param gid its address
 */
record PingPongDestination(int localId, int queuePair, int psn, Gid gid) {
    /** Bytes of the text form with the zero behind it. */
    static final int TEXT_BYTES = 52;

    private static final Pattern TEXT =
            Pattern.compile("([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})", Pattern.CASE_INSENSITIVE);

    /** The form that the ping-pongs exchange: LID, number, PSN and GID in hexadecimal. */
    String toText() {
        return String.format(Locale.ROOT, "%04x:%06x:%06x:%016x%016x", localId, queuePair, psn, gid.high(), gid.low());
    }

    /** Reads {@link #toText}; nothing if it is something else. */
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

    /** As the lines {@code local address} and {@code remote address} have it. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT, "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", localId, queuePair, psn, GidText.of(gid));
    }
}
