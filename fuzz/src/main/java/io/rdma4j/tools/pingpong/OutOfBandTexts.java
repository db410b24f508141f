package io.rdma4j.tools.pingpong;

import java.util.Optional;

/** Lets the fuzz target of texts in: what one ping-pong tells the other over TCP. */
public final class OutOfBandTexts {
    private OutOfBandTexts() {}

    /**
     * Reads a text from the peer.
     *
     * @throws AssertionError if it is read as something that is not written again as it was
     */
    public static void check(String text) {
        Optional<String> written = PingPongDestination.parse(text).map(PingPongDestination::toText);
        Optional<String> extended = XsrqDestination.parse(text).map(XsrqDestination::toText);
        if (written.or(() -> extended)
                .filter(again -> !again.equalsIgnoreCase(text))
                .isPresent()) {
            throw new AssertionError("a destination is written again as it was");
        }
    }
}
