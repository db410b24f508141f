package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkStatistics;
import io.rdma4j.link.ReceiveBurst;
import java.io.IOException;

/**
 * The link of a process that became the owner of a port after another process.
 *
 * <p>It receives at UDP port 4791, and sends from its own UDP port as before: peers identify its queue pairs by that
 * port, and drop packets from another one.
 */
final class InheritedLink extends SiblingLink {
    private static final int RARELY_MASK = 31;

    private final Link owned;
    private final DirectFrames direct;
    private int polls;

    /**
     * Creates a link.
     *
     * @param owned UDP port 4791
     * @param sender the UDP port that the process has sent from so far
     */
    InheritedLink(Link owned, Link sender, AddressSiblings siblings) {
        super(sender, siblings);
        this.owned = owned;
        direct = new DirectFrames(sender, siblings);
    }

    /** Makes the next {@link #poll} poll the UDP port that the process sends from. */
    void pollSenderNext() {
        polls = RARELY_MASK;
    }

    @Override
    public int poll(ReceiveBurst burst) {
        if ((++polls & RARELY_MASK) == 0) {
            // Siblings send to UDP port 4791 once they know its new owner. Frames sent before that are here.
            int late = direct.poll(burst);
            if (late > 0) {
                return late;
            }
        }
        return owned.poll(burst);
    }

    @Override
    public LinkStatistics statistics() {
        return owned.statistics();
    }

    @Override
    public void close() throws IOException {
        owned.close();
    }
}
