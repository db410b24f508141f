package io.rdma4j.conformance.cm;

import io.rdma4j.cm.CmId;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The other process of a test, with synchronous identifiers.
 *
 * <ul>
 *   <li>{@code server ADDRESS} prints its port, accepts one connection, echoes one message and disconnects when the peer has.
 *   <li>{@code client ADDRESS PORT [SOURCE]} prints that it connects, connects, and prints that it has. It exits on a line of
 *       its standard input, without calling the connection manager.
 *   <li>{@code group ADDRESS GROUP} joins a multicast group and prints the number in each datagram, until it is killed.
 * </ul>
 */
public final class PeerProcess {
    private static final int SIZE = 256;
    private static final int DATAGRAM_HEADER_BYTES = 40;
    private static final long DATAGRAMS = 4;

    private PeerProcess() {}

    /** Runs the process; see the class. */
    public static void main(String[] arguments) throws IOException {
        InetAddress address = InetAddress.ofLiteral(arguments[1]);
        switch (arguments[0]) {
            case "server" -> serve(address);
            case "group" -> receiveGroup(address, InetAddress.ofLiteral(arguments[2]));
            default ->
                call(
                        arguments.length > 3 ? new InetSocketAddress(InetAddress.ofLiteral(arguments[3]), 0) : null,
                        new InetSocketAddress(address, Integer.parseInt(arguments[2])));
        }
    }

    private static void receiveGroup(InetAddress address, InetAddress group) {
        CmId member = CmId.create(PortSpace.UDP);
        member.bindAddress(new InetSocketAddress(address, 0));
        member.createQueuePair(sizes());
        MemorySegment memory = Arena.global().allocate(DATAGRAMS * SIZE);
        MemoryRegion region = member.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
        member.joinMulticast(group);
        // Post all receives before the line that lets the sender begin: a datagram without a receive is lost.
        for (int i = 0; i < DATAGRAMS; i++) {
            Objects.requireNonNull(member.queuePair())
                    .postReceive(new ReceiveWorkRequest().reset(i).into(region, (long) i * SIZE, SIZE));
        }
        say("joined");
        for (int i = 0; i < DATAGRAMS; i++) {
            await(Objects.requireNonNull(member.receiveCompletions()));
            say("received " + memory.get(ValueLayout.JAVA_INT, (long) i * SIZE + DATAGRAM_HEADER_BYTES));
        }
        LockSupport.park();
    }

    private static QueuePairInitAttributes sizes() {
        return QueuePairInitAttributes.of(new QueuePairCapabilities(4, 4, 1, 1, 0));
    }

    private static void serve(InetAddress address) {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(1);
            say("port " + listener.sourcePort());
            try (CmId server = listener.getRequest()) {
                server.createQueuePair(sizes());
                MemorySegment memory = Arena.global().allocate(SIZE);
                MemoryRegion region = server.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
                var queuePair = Objects.requireNonNull(server.queuePair());
                queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(region, 0, SIZE));
                server.accept();
                await(Objects.requireNonNull(server.receiveCompletions()));
                say("received " + memory.getString(0));
                queuePair.postSend(
                        new SendWorkRequest().reset(2).from(region, 0, SIZE).signaled());
                await(Objects.requireNonNull(server.sendCompletions()));
                server.disconnect();
                say("disconnected");
            }
        }
    }

    private static void await(CompletionQueue queue) {
        WorkCompletion[] one = {new WorkCompletion()};
        while (queue.poll(one) == 0) {
            Thread.onSpinWait();
        }
    }

    private static void call(@Nullable InetSocketAddress source, InetSocketAddress destination) throws IOException {
        say("calls");
        CmId client = CmId.create(PortSpace.TCP);
        client.setAckTimeout(12);
        client.resolveAddress(source, destination, Duration.ofSeconds(5));
        client.resolveRoute(Duration.ofSeconds(5));
        client.createQueuePair(sizes());
        client.connect();
        say("connected");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ends at " + input.readLine());
        System.exit(0);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
