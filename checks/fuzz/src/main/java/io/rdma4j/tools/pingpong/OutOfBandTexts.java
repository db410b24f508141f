package io.rdma4j.tools.pingpong;

import java.util.Optional;

/** Gives the fuzz target of texts access to the texts that ping-pong tools exchange over TCP. */
public final class OutOfBandTexts {
    private OutOfBandTexts() {}

    /**
     * Parses a text of the peer.
     *
     * @throws AssertionError if a parsed text is not written as it was
     */
    public static void check(String text) {
        Optional<String> written = PingPongDestination.parse(text).map(PingPongDestination::toText);
        Optional<String> extended = XsrqDestination.parse(text).map(XsrqDestination::toText);
        if (written.or(() -> extended)
                .filter(again -> !again.equalsIgnoreCase(text))
                .isPresent()) {
            throw new AssertionError("a parsed destination is written as it was");
        }
    }
}
