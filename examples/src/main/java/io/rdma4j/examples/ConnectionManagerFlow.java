package io.rdma4j.examples;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The client and server flow of rdma_cm(7), with the C call next to each Java call. */
public final class ConnectionManagerFlow {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private ConnectionManagerFlow() {}

    /** Runs server and client, each in a thread. */
    public static void main(String[] arguments) throws InterruptedException {
        try (EventChannel channel = EventChannel.open(); //                            rdma_create_event_channel
                CmId listener = channel.createId(PortSpace.TCP)) { //                  rdma_create_id
            listener.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)); // rdma_bind_addr
            listener.listen(1); //                                                     rdma_listen
            Thread server = Thread.ofPlatform().start(() -> serve(channel));
            connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.sourcePort()));
            server.join();
        }
    }

    // tag::server[]
    private static void serve(EventChannel channel) {
        CmId connection = await(channel, CmEvent.Type.CONNECT_REQUEST); //             rdma_get_cm_event
        try (connection) {
            connection.createQueuePair(QueuePairInitAttributes.defaults()); //         rdma_create_qp
            connection.accept(ConnectionParameters.defaults()); //                     rdma_accept
            await(channel, CmEvent.Type.ESTABLISHED); //                               rdma_get_cm_event
            System.out.println("server: established with " + connection.peerAddress());
            await(channel, CmEvent.Type.DISCONNECTED); //                              rdma_get_cm_event
            connection.disconnect(); //                                                rdma_disconnect
        } //                                                                           rdma_destroy_qp,
        // rdma_destroy_id
    }
    // end::server[]

    // tag::client[]
    private static void connect(InetSocketAddress server) {
        try (EventChannel channel = EventChannel.open(); //                            rdma_create_event_channel
                CmId connection = channel.createId(PortSpace.TCP)) { //                rdma_create_id
            connection.resolveAddress(server, TIMEOUT); //                             rdma_resolve_addr
            await(channel, CmEvent.Type.ADDRESS_RESOLVED); //                          rdma_get_cm_event
            connection.resolveRoute(TIMEOUT); //                                       rdma_resolve_route
            await(channel, CmEvent.Type.ROUTE_RESOLVED); //                            rdma_get_cm_event
            connection.createQueuePair(QueuePairInitAttributes.defaults()); //         rdma_create_qp
            connection.connect(ConnectionParameters.defaults()); //                    rdma_connect
            await(channel, CmEvent.Type.ESTABLISHED); //                               rdma_get_cm_event
            System.out.println("client: established with " + server);
            connection.disconnect(); //                                                rdma_disconnect
            await(channel, CmEvent.Type.DISCONNECTED); //                              rdma_get_cm_event
        }
    }
    // end::client[]

    /** Takes the next event, checks its type, acknowledges it and returns its identifier. */
    private static CmId await(EventChannel channel, CmEvent.Type type) {
        try (CmEvent event = channel.await()) { //                                     rdma_ack_cm_event
            if (event.type() != type) {
                throw new IllegalStateException(event.type() + " in place of " + type + ": " + event.explanation());
            }
            return event.id();
        }
    }
}
