package io.rdma4j.sharing;

import io.rdma4j.link.LocalChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Channels that are closed as soon as their last control messages are sent, which may have to wait until a stopped process
 * continues. Used under the engine lock.
 */
final class ClosingChannels {
    private final List<LocalChannel> channels = new ArrayList<>();

    /** Closes a channel now, or when all its messages are sent. */
    void add(LocalChannel channel) {
        if (channel.hasUnsentControl()) {
            channels.add(channel);
        } else {
            channel.close();
        }
    }

    boolean isEmpty() {
        return channels.isEmpty();
    }

    /** Sends as much as the other processes have space for now. */
    void send() {
        channels.removeIf(ClosingChannels::isDone);
    }

    private static boolean isDone(LocalChannel channel) {
        ByteBuffer ignored = channel.poll(); // this process no longer serves the address
        while (ignored != null) {
            ignored = channel.poll();
        }
        boolean done = !channel.hasUnsentControl();
        if (done) {
            channel.close();
        }
        return done;
    }
}
