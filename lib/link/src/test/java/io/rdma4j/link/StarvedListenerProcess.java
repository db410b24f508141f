package io.rdma4j.link;

import io.rdma4j.link.system.LinkSets;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** A process that listens for others, and has no descriptor when one connects. */
public final class StarvedListenerProcess {
    private static final long SECOND_NANOS = 1_000_000_000;

    private final Deque<FileInputStream> taken = new ArrayDeque<>();
    private final String kind;
    private final Path path;

    private StarvedListenerProcess(String kind, Path path) {
        this.kind = kind;
        this.path = path;
    }

    /** Runs the process; the arguments are the kind of link set, a path, and how many descriptors are free at first. */
    public static void main(String[] arguments) throws IOException {
        String kind = arguments[0];
        Path path = Path.of(arguments[1]);
        new StarvedListenerProcess(kind, path).run(Integer.MAX_VALUE); // loads the classes, which takes descriptors
        System.out.println("begin");
        new StarvedListenerProcess(kind, path).run(Integer.parseInt(arguments[2]));
    }

    private void run(int free) throws IOException {
        try (LinkSet set = LinkSets.open(kind)) {
            leave(free);
            LinkSet.LocalListener listener = set.listenLocal(path);
            listener.refuseWith(ByteBuffer.wrap(new byte[] {77}));
            give(1);
            try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                client.connect(UnixDomainSocketAddress.of(path));
                if (free == Integer.MAX_VALUE) {
                    LocalChannel _ = listener.accept();
                } else {
                    leave(0);
                    print(set, listener, client);
                }
            }
        } finally {
            give(taken.size());
        }
    }

    private void print(LinkSet set, LinkSet.LocalListener listener, SocketChannel client) throws IOException {
        System.out.println("accepted " + (listener.accept() != null));
        int waits = 0;
        for (long end = System.nanoTime() + SECOND_NANOS; System.nanoTime() < end; waits++) {
            set.await(end - System.nanoTime());
            LocalChannel _ = listener.accept();
        }
        System.out.println("waits " + (waits < 100 ? "few" : String.valueOf(waits)));
        give(1);
        long end = System.nanoTime() + 10 * SECOND_NANOS;
        client.configureBlocking(false);
        ByteBuffer answer = ByteBuffer.allocate(3);
        boolean isAccepted = false;
        while (!isAccepted && client.read(answer) == 0 && System.nanoTime() < end) {
            set.await(end - System.nanoTime());
            isAccepted = listener.accept() != null;
        }
        System.out.println(isAccepted ? "accepted later" : "refused by " + answer.get(2));
    }

    private void leave(int free) throws IOException {
        if (free == Integer.MAX_VALUE) {
            return;
        }
        try {
            while (true) {
                taken.push(new FileInputStream(path.resolveSibling("file").toFile()));
            }
        } catch (IOException exhausted) {
            give(free);
        }
    }

    private void give(int count) throws IOException {
        for (int i = 0; i < count && !taken.isEmpty(); i++) {
            taken.pop().close();
        }
    }
}
