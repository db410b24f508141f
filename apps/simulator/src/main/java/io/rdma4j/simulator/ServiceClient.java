package io.rdma4j.simulator;

import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.ServiceResolution;
import io.rdma4j.wire.cm.SidrRep;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * An application that resolves datagram services, one after the other, and sends datagrams to the services that it
 * finds.
 *
 * <p>It checks that each resolution ends with one event: the answer of the server or, after the time of all
 * retransmissions, the report that the peer is unreachable. No event may follow a cancellation.
 */
final class ServiceClient {
    /** Sixteen requests, each of which waits 4.096 s, as in Linux. */
    private static final long RETRANSMISSION_NANOS = 16 * 4_096_000_000L;

    private static final int CANCELLED = 10;
    private static final int WRONG_KEYS = 6;
    private static final long MAX_PAUSE_NANOS = 20_000_000;

    private final DatagramServices services;
    private final ServiceEndpoint endpoint;
    private final SplittableRandom random;
    private int attemptsLeft;
    private long nextNanos;
    private @Nullable ServiceExchange current;
    private @Nullable ServiceResolution resolution;

    ServiceClient(DatagramServices services, ServiceEndpoint endpoint, int attempts, SplittableRandom random) {
        this.services = services;
        this.endpoint = endpoint;
        this.random = random;
        attemptsLeft = attempts;
        nextNanos = random.nextLong(MAX_PAUSE_NANOS);
    }

    ServiceEndpoint endpoint() {
        return endpoint;
    }

    /** Starts or cancels a resolution if it is time, and sends some datagrams. */
    void work() {
        if (endpoint.isKilled() || endpoint.host.isPaused()) {
            return;
        }
        long now = services.nowNanos();
        ServiceExchange exchange = current;
        if (exchange == null) {
            if (attemptsLeft > 0 && now >= nextNanos) {
                attemptsLeft--;
                begin(now);
            }
        } else if (now >= exchange.cancelNanos && resolution != null) {
            resolution.cancel();
            services.note(exchange + " is cancelled");
            finish();
        }
        endpoint.work();
    }

    private void begin(long now) {
        long cancelNanos = random.nextInt(CANCELLED) == 0 ? now + random.nextLong(MAX_PAUSE_NANOS) : Long.MAX_VALUE;
        ServiceExchange exchange = services.newExchange(endpoint, cancelNanos, random);
        current = exchange;
        services.note(exchange + " begins");
        ServiceResolution begun = endpoint.host
                .agent()
                .resolve(
                        now,
                        DatagramServices.route(endpoint.host, exchange.server),
                        exchange.serviceId,
                        exchange.privateData,
                        this);
        resolution = begun;
        services.forge(exchange, begun.requestId());
    }

    private void finish() {
        current = null;
        resolution = null;
        nextNanos = services.nowNanos() + random.nextLong(MAX_PAUSE_NANOS);
    }

    void onEvent(AgentEvent.OfResolution event) {
        ServiceExchange exchange = current;
        if (exchange == null || event.resolution() != resolution) {
            throw new SimulationFailure(endpoint.name + ": an event of a resolution that has ended: " + event);
        }
        finish();
        switch (event) {
            case AgentEvent.ServiceReplied replied -> onReply(exchange, replied.reply());
            case AgentEvent.ServiceUnreachable _ -> {
                services.note(exchange + " is not answered");
                long nanos = services.nowNanos() - exchange.startNanos;
                if (nanos < RETRANSMISSION_NANOS || !services.mayBreak()) {
                    throw new SimulationFailure(exchange + " is given up after " + nanos + " ns");
                }
            }
        }
    }

    private void onReply(ServiceExchange exchange, SidrRep reply) {
        services.note(exchange + " has status " + reply.status());
        if (reply.serviceId() != exchange.serviceId) {
            throw new SimulationFailure(exchange + " is answered for another service: " + reply);
        }
        if (reply.status() == SidrRep.STATUS_UNSUPPORTED && exchange.serviceId != DatagramServices.SERVICE) {
            return;
        }
        if (reply.status() == SidrRep.STATUS_REJECTED && ServiceServer.isDeclined(exchange.number)) {
            return;
        }
        ServiceExchange.Answer answer = exchange.answers.stream()
                .filter(each -> isSame(each, reply))
                .findFirst()
                .orElseThrow(() -> new SimulationFailure(
                        exchange + " has an answer that no server has given: " + reply + " of " + exchange.answers));
        ServiceEndpoint server = answer.endpoint();
        if (server != null) {
            services.onResolved();
            for (int i = random.nextInt(DatagramServices.DATAGRAMS + 1); i > 0; i--) {
                int key = random.nextInt(WRONG_KEYS) == 0 ? reply.queueKey() ^ 1 : reply.queueKey();
                endpoint.send(server, key);
            }
        }
    }

    private static boolean isSame(ServiceExchange.Answer answer, SidrRep reply) {
        ServiceEndpoint server = answer.endpoint();
        return answer.status() == reply.status()
                && reply.queuePair() == (server == null ? 0 : server.number())
                && reply.queueKey() == (server == null ? 0 : server.queueKey())
                && answer.privateData().padded(SidrRep.PRIVATE_DATA_LENGTH).equals(reply.privateData());
    }

    /** Returns whether nothing is left to do. */
    boolean isOver() {
        return endpoint.isKilled() || attemptsLeft == 0 && current == null && endpoint.isDone();
    }

    @Override
    public String toString() {
        return endpoint.name + " with " + current;
    }
}
