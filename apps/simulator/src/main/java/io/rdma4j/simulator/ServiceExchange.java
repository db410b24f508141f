package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.wire.cm.PrivateData;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The resolution of one datagram service (SIDR): the client's request, and the answers of the servers. */
final class ServiceExchange {
    /**
     * The answer of a server.
     *
     * @param status status of the reply
     * @param endpoint the queue pair of the service, or null if the status reports none
     * @param privateData the private data of the reply
     */
    record Answer(int status, @Nullable ServiceEndpoint endpoint, PrivateData privateData) {}

    final int number;
    final ServiceEndpoint client;
    final SimulatedHost server;
    final long serviceId;
    final PrivateData privateData;
    final long startNanos;
    final long cancelNanos;

    /** The answers: more than one only if the server's host has crashed in between. */
    final List<Answer> answers = new ArrayList<>();

    private final Set<ServiceServer> asked = new HashSet<>();

    ServiceExchange(
            int number,
            ServiceEndpoint client,
            SimulatedHost server,
            long serviceId,
            PrivateData privateData,
            long startNanos,
            long cancelNanos) {
        this.number = number;
        this.client = client;
        this.server = server;
        this.serviceId = serviceId;
        this.privateData = privateData;
        this.startNanos = startNanos;
        this.cancelNanos = cancelNanos;
    }

    /** Records that a server is asked; returns false if it was asked before. */
    boolean ask(ServiceServer at) {
        return asked.add(at);
    }

    @Override
    public String toString() {
        return "resolution " + number + " of " + client.name + " at " + Chaos.name(server);
    }
}
