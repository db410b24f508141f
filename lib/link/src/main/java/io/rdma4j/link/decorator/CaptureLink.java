package io.rdma4j.link.decorator;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.internal.SourceAddress;

/**
 * Writes all frames of a link to a packet capture. Sent frames are captured just before they are passed to the kernel,
 * received ones as they arrived. The capture is flushed once per burst. Closing the link leaves the writer open, since
 * other links may share it.
 */
public final class CaptureLink extends ForwardingLink {
    private final PcapngWriter writer;
    private final SourceAddress source;

    /**
     * Wraps a link.
     *
     * @param inner the link to capture
     * @param writer receives the frames; the caller closes it
     */
    public CaptureLink(Link inner, PcapngWriter writer) {
        super(inner);
        this.writer = writer;
        this.source = new SourceAddress(inner);
    }

    @Override
    public void send(SendBurst burst) {
        for (int i = 0; i < burst.count(); i++) {
            writer.write(source.complete(burst, i), true);
        }
        writer.flush();
        inner.send(burst);
    }

    @Override
    public int poll(ReceiveBurst burst) {
        int count = inner.poll(burst);
        if (count > 0) {
            for (int i = 0; i < count; i++) {
                writer.write(burst.frame(i), false);
            }
            writer.flush();
        }
        return count;
    }
}
