package io.rdma4j.link;

/**
 * Writes all frames of a link to a packet capture: those sent just before the kernel gets them, those received as they
 * came. The capture is flushed once per burst. The writer stays open when the link closes: others may share it.
 */
public final class CaptureLink extends ForwardingLink {
    private final PcapngWriter writer;
    private final SourceAddress source;

    /**
     * Wraps a link.
     *
     * @param inner the link to capture
     * @param writer takes the frames; the caller closes it
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
