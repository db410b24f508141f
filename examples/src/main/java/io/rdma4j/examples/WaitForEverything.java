package io.rdma4j.examples;

import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.Waitable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * One thread that waits for events of connections, completions and RDMA sockets together. A C program polls the
 * descriptors of its channels for this.
 */
public final class WaitForEverything {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int MESSAGE_BYTES = 64;

    /** Handles what an object is ready for. */
    private interface Handler {
        void handle() throws IOException;
    }

    private final Arena arena;
    private final WaitSet everything = new WaitSet();
    private final Map<Waitable, Handler> handlers = new HashMap<>();
    private int finished;

    private WaitForEverything(Arena arena) {
        this.arena = arena;
    }

    /** Runs the server, and two clients: one sends over verbs, the other over an RDMA socket. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Arena arena = Arena.ofShared();
                EventChannel events = EventChannel.open();
                CmId listener = events.createId(PortSpace.TCP);
                RdmaStreamSocket acceptor = RdmaStreamSocket.open()) {
            listener.bindAddress(ANY_PORT);
            listener.listen(1);
            acceptor.bind(ANY_PORT);
            acceptor.listen(1);
            InetSocketAddress verbsServer = Objects.requireNonNull(listener.localAddress());
            InetSocketAddress socketServer = Objects.requireNonNull(acceptor.localAddress());
            Thread verbs = Thread.ofPlatform().start(() -> sendOverVerbs(verbsServer));
            Thread socket = Thread.ofPlatform().start(() -> sendOverSocket(socketServer));
            WaitForEverything server = new WaitForEverything(arena);
            server.on(events, () -> server.onEvent(events));
            server.on(acceptor.readiness(PollEvents.IN), () -> server.onConnection(acceptor));
            server.run();
            verbs.join();
            socket.join();
        }
    }

    private void on(Waitable source, Handler handler) {
        everything.add(source);
        handlers.put(source, handler);
    }

    // tag::wait[]
    /** Runs until both clients are served. */
    private void run() throws IOException {
        try (everything) {
            while (finished < 2) {
                for (Waitable ready : everything.await()) {
                    Handler handler = handlers.get(ready);
                    if (handler != null) { // otherwise a previous handler has closed it
                        handler.handle();
                    }
                }
            }
        }
    }
    // end::wait[]

    private void off(Waitable source) {
        everything.remove(source);
        handlers.remove(source);
    }

    // ---- over verbs

    private void onEvent(EventChannel events) throws IOException {
        try (CmEvent event = Objects.requireNonNull(events.poll())) {
            CmId id = event.id();
            if (event instanceof CmEvent.ConnectRequest) {
                accept(id);
            } else if (event instanceof CmEvent.Disconnected) {
                CompletionChannel completions = Objects.requireNonNull(id.receiveCompletionChannel());
                if (completions.isReady()) { // the last message was reported together with the disconnect
                    Objects.requireNonNull(handlers.get(completions)).handle();
                }
                off(completions);
                id.close();
                finished++;
            }
        }
    }

    private void accept(CmId id) {
        QueuePair queuePair = id.createQueuePair(QueuePairInitAttributes.defaults());
        MemoryRegion message = id.protectionDomain().register(arena.allocate(MESSAGE_BYTES), AccessFlag.LOCAL_WRITE);
        queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(message, 0, MESSAGE_BYTES));
        queuePair.receiveCompletions().requestNotification(false);
        CompletionChannel completions = Objects.requireNonNull(id.receiveCompletionChannel());
        on(completions, () -> onCompletion(completions, message));
        id.accept();
    }

    private static void onCompletion(CompletionChannel channel, MemoryRegion message) {
        CompletionQueue completions = Objects.requireNonNull(channel.poll());
        completions.acknowledgeEvents(1);
        WorkCompletion[] received = WorkCompletion.array(1);
        if (completions.poll(received) == 1 && received[0].isSuccess()) {
            System.out.println("server: over verbs: " + message.memory().getString(0));
        }
    }

    private static void sendOverVerbs(InetSocketAddress address) {
        try (Connection server = Connection.to(address).connect();
                Buffer message = server.allocate(MESSAGE_BYTES)) {
            message.memory().setString(0, "a message");
            server.send(message);
        }
    }

    // ---- over an RDMA socket

    private void onConnection(RdmaStreamSocket acceptor) throws IOException {
        RdmaStreamSocket accepted = Objects.requireNonNull(acceptor.accept());
        Waitable input = accepted.readiness(PollEvents.IN);
        on(input, () -> onInput(accepted, input));
    }

    private void onInput(RdmaStreamSocket accepted, Waitable input) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MESSAGE_BYTES);
        if (accepted.receive(bytes) < 0) {
            off(input);
            accepted.close();
            finished++;
        } else {
            String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
            System.out.println("server: over a socket: " + text);
        }
    }

    private static void sendOverSocket(InetSocketAddress server) {
        try (RdmaStreamSocket socket = RdmaStreamSocket.open()) {
            boolean _ = socket.connect(server);
            int _ = socket.send(StandardCharsets.UTF_8.encode("some bytes"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
