package io.rdma4j.examples;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Datagrams: a request to a service and its response, and a message to a multicast group with two receivers. */
public final class DatagramsAndMulticast {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");

    private DatagramsAndMulticast() {}

    /** Runs a service in a thread and a client, and then the members of a group. */
    public static void main(String[] arguments) throws InterruptedException {
        try (CmId listener = bound()) {
            listener.listen(1);
            Thread service = Thread.ofPlatform().start(() -> serve(listener));
            ask(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()));
            service.join();
        }
        sendToGroup();
    }

    private static CmId bound() {
        CmId id = CmId.create(PortSpace.UDP);
        id.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return id;
    }

    private static void serve(CmId listener) {
        try (CmId id = listener.getRequest();
                Messages messages = new Messages(id)) {
            id.accept(ConnectionParameters.defaults()); // sends the number of the queue pair to the client
            WorkCompletion question = messages.receive();
            System.out.println("service: the question is " + messages.text());
            try (AddressHandle client =
                    id.protectionDomain().createAddressHandle(question, messages.received.memory(), id.portNumber())) {
                messages.send(client, question.sourceQueuePairNumber(), "42");
            }
        }
    }

    private static void ask(InetSocketAddress service) {
        try (CmId id = CmId.create(PortSpace.UDP)) {
            id.resolveAddress(service, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            try (Messages messages = new Messages(id)) {
                id.connect(ConnectionParameters.defaults()); // asks for the number of the queue pair
                messages.send(destination(id), "six times seven");
                var _ = messages.receive();
                System.out.println("client: the answer is " + messages.text());
            }
        }
    }

    private static void sendToGroup() {
        try (CmId first = bound();
                CmId second = bound();
                CmId sender = bound();
                Messages ofFirst = new Messages(first);
                Messages ofSecond = new Messages(second);
                Messages ofSender = new Messages(sender)) {
            first.joinMulticast(GROUP);
            second.joinMulticast(GROUP);
            sender.joinMulticast(
                    MulticastJoinAttributes.of(GROUP).withFlag(MulticastJoinFlag.SEND_ONLY_FULL_MEMBER), null);
            ofSender.send(destination(sender), "hello, group");
            for (Messages each : List.of(ofFirst, ofSecond)) {
                var _ = each.receive();
                System.out.println("member: received " + each.text());
            }
        }
    }

    /** Returns the destination of datagrams, which the event of connecting or joining has. */
    private static DatagramParameters destination(CmId id) {
        CmEvent event = Objects.requireNonNull(id.event());
        return Objects.requireNonNull(event.datagram());
    }

    /** A datagram queue pair, memory for a message to send, and a posted receive. */
    private static final class Messages implements AutoCloseable {
        private static final int MESSAGE_BYTES = 64;

        /** Length of the IP header that precedes each received datagram, from which the receiver can reply, in bytes. */
        private static final int HEADER_BYTES = 40;

        private final Arena arena = Arena.ofShared();
        private final CmId id;
        private final CmVerbs verbs;
        private final MemoryRegion sent;
        private final MemoryRegion received;

        Messages(CmId id) {
            this.id = id;
            id.createQueuePair(CmQueuePairAttributes.defaults());
            verbs = new CmVerbs(id);
            sent = verbs.register(arena.allocate(MESSAGE_BYTES));
            received = verbs.register(arena.allocate(HEADER_BYTES + MESSAGE_BYTES));
            verbs.postReceive(0, received, 0, received.lengthBytes());
        }

        void send(DatagramParameters to, String text) {
            try (AddressHandle handle = id.protectionDomain().createAddressHandle(to.addressVector())) {
                send(handle, to.queuePairNumber(), text);
            }
        }

        void send(AddressHandle to, int queuePairNumber, String text) {
            sent.memory().setString(0, text);
            verbs.postDatagramSend(0, sent, 0, MESSAGE_BYTES, Set.of(CmVerbs.Flag.SIGNALED), to, queuePairNumber);
            var _ = verbs.awaitSendCompletion();
        }

        WorkCompletion receive() {
            return verbs.awaitReceiveCompletion();
        }

        String text() {
            return received.memory().getString(HEADER_BYTES);
        }

        @Override
        public void close() {
            received.close();
            sent.close();
            arena.close();
        }
    }
}
