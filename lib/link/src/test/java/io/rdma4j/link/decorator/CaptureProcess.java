package io.rdma4j.link.decorator;

import io.rdma4j.link.Frames;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.memory.MemoryNetwork;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Path;

/**
 * A process that captures the frames it sends. Its arguments are FILE and PACKETS. It prints "open" when the file is
 * open, the decorator's messages, "sent", and finally the error with the number of lost packets. After sending it waits
 * for standard input.
 */
final class CaptureProcess {
    private CaptureProcess() {}

    public static void main(String[] args) throws IOException {
        LinkOptions options = LinkOptions.NONE.withCaptureFile(Path.of(args[0]));
        try (LinkDecorator decorator = new LinkDecorator(
                        options, System::nanoTime, () -> 0, line -> System.out.println("reported " + line));
                LinkSet set = new DecoratedLinkSet(new MemoryNetwork(1500).newLinkSet(), decorator)) {
            System.out.println("open");
            Link link = set.openUdp(InetAddress.ofLiteral("10.0.0.1"), 4791);
            SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                Frames.send(link, burst, link.localAddress(), 100 + i % 900, i);
            }
            System.out.println("sent");
            int _ = System.in.read();
        } catch (IOException e) {
            System.out.println("failed " + e.getMessage());
        }
    }
}
