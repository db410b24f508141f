package io.rdma4j.examples;

import io.rdma4j.Buffer;
import io.rdma4j.Datagram;
import io.rdma4j.Datagrams;
import io.rdma4j.Destination;
import io.rdma4j.Membership;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** Datagrams: a service that answers questions, and a message to a multicast group with two receivers. */
public final class DatagramsAndMulticast {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.1.2.3");
    private static final int MESSAGE_BYTES = 64;

    private DatagramsAndMulticast() {}

    /** Runs a service in a thread and a client, and then the members of a group. */
    public static void main(String[] arguments) throws InterruptedException {
        Datagrams socket = Datagrams.bind(new InetSocketAddress(LOOPBACK, 0));
        Thread service = Thread.startVirtualThread(() -> serve(socket));
        try (socket) {
            ask(socket.address());
        }
        service.join();
        sendToGroup();
    }

    // tag::service[]
    /** Answers questions, each in the question's memory, until the socket is closed. */
    private static void serve(Datagrams socket) {
        try {
            while (true) {
                try (Datagram question = socket.receive()) {
                    System.out.println(
                            "service: the question is " + question.memory().getString(0));
                    question.memory().setString(0, "42");
                    socket.send(question.sender(), question.buffer());
                }
            }
        } catch (ClosedException end) {
            System.out.println("service: closed");
        }
    }

    /** Asks until an answer arrives: a datagram may be lost. */
    private static void ask(InetSocketAddress service) {
        try (Datagrams socket = Datagrams.toward(service);
                Buffer question = socket.allocate(MESSAGE_BYTES)) {
            Destination address = socket.resolve(service);
            question.memory().setString(0, "six times seven");
            while (true) {
                socket.send(address, question);
                try (Datagram answer = socket.receive(Duration.ofSeconds(1))) {
                    System.out.println(
                            "client: the answer is " + answer.memory().getString(0));
                    return;
                } catch (RdmaTimeoutException lost) {
                    System.out.println("client: no answer yet");
                }
            }
        }
    }
    // end::service[]

    // tag::group[]
    private static void sendToGroup() {
        InetSocketAddress anyPort = new InetSocketAddress(LOOPBACK, 0);
        try (Datagrams first = Datagrams.bind(anyPort);
                Datagrams second = Datagrams.bind(anyPort);
                Datagrams sender = Datagrams.bind(anyPort);
                Membership ofSender = sender.joinToSend(GROUP);
                Buffer hello = sender.allocate(MESSAGE_BYTES)) {
            first.join(GROUP); // until the socket is closed
            second.join(GROUP);
            hello.memory().setString(0, "hello, group");
            sender.send(ofSender.group(), hello);
            for (Datagrams member : List.of(first, second)) {
                try (Datagram datagram = member.receive()) {
                    System.out.println("member: received " + datagram.memory().getString(0));
                }
            }
        }
    }
    // end::group[]
}
