package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.cm.RequestFilter;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import io.rdma4j.wire.cm.SidrReq;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The application of a host that serves a datagram service, until the host crashes.
 *
 * <p>It answers requests immediately or later, with its queue pair or a refusal.
 */
final class ServiceServer {
    private static final int DECLINED = 12;
    private static final int REFUSED = 6;
    private static final int SLOW_ANSWERS = 4;
    private static final int BUSY_AT_FIRST = 6;
    private static final int BACKLOG = 8;
    private static final long MAX_BUSY_NANOS = 60_000_000L;
    private static final long MAX_DELAY_NANOS = 1_000_000_000L;

    /** An answer that the application gives later. */
    private record Pending(long atNanos, ServiceRequest request, ServiceExchange exchange) {}

    private final DatagramServices services;
    private final SimulatedHost host;
    private final String name;
    private final SplittableRandom random;
    private final long busyUntilNanos;
    private final List<Pending> pending = new ArrayList<>();
    private @Nullable ServiceEndpoint endpoint;
    private boolean isKilled;

    /** Creates the application and serves its service. */
    ServiceServer(DatagramServices services, SimulatedHost host, String name, SplittableRandom random) {
        this.services = services;
        this.host = host;
        this.name = name;
        this.random = random;
        long now = services.nowNanos();
        busyUntilNanos = random.nextInt(BUSY_AT_FIRST) == 0 ? now + random.nextLong(MAX_BUSY_NANOS) : now;
        host.agent()
                .serve(
                        DatagramServices.SERVICE,
                        (route, request) -> verdict(request),
                        random.nextInt(1, BACKLOG + 1),
                        this);
    }

    SimulatedHost host() {
        return host;
    }

    private RequestFilter.Verdict verdict(SidrReq request) {
        if (services.nowNanos() < busyUntilNanos) {
            return RequestFilter.Verdict.DROP;
        }
        return isDeclined(DatagramServices.number(request.privateData()))
                ? RequestFilter.Verdict.DECLINE
                : RequestFilter.Verdict.TAKE;
    }

    /** Returns whether the listeners decline a request, so that the communication manager rejects it. */
    static boolean isDeclined(int number) {
        return number % DECLINED == DECLINED - 1;
    }

    /** Handles a request, which is reported once. */
    void onRequest(ServiceRequest request, ServiceExchange exchange) {
        if (isKilled || !exchange.ask(this)) {
            throw new SimulationFailure(name + ": " + exchange + " is reported again");
        }
        if (random.nextInt(SLOW_ANSWERS) == 0) {
            pending.add(new Pending(services.nowNanos() + random.nextLong(1, MAX_DELAY_NANOS), request, exchange));
        } else {
            answer(request, exchange);
        }
    }

    private void answer(ServiceRequest request, ServiceExchange exchange) {
        long now = services.nowNanos();
        if (random.nextInt(REFUSED) == 0) {
            if (random.nextBoolean()) {
                exchange.answers.add(new ServiceExchange.Answer(SidrRep.STATUS_REJECTED, null, PrivateData.EMPTY));
                request.destroy(now);
            } else {
                PrivateData data = services.privateData(exchange.number, SidrRep.PRIVATE_DATA_LENGTH, random);
                exchange.answers.add(new ServiceExchange.Answer(SidrRep.STATUS_NO_QUEUE_PAIR, null, data));
                request.answer(now, SidrRep.STATUS_NO_QUEUE_PAIR, 0, 0, data);
            }
            services.note(name + " refuses " + exchange);
            return;
        }
        ServiceEndpoint serving = endpoint;
        if (serving == null) {
            serving = services.serverEndpoint(name, host, this::onDatagram, random.split());
            endpoint = serving;
        }
        PrivateData data = services.privateData(exchange.number, SidrRep.PRIVATE_DATA_LENGTH, random);
        exchange.answers.add(new ServiceExchange.Answer(SidrRep.STATUS_VALID, serving, data));
        services.note(name + " answers " + exchange);
        request.answer(now, SidrRep.STATUS_VALID, serving.number(), serving.queueKey(), data);
    }

    /** Answers some of the datagrams. */
    private void onDatagram(int id, ServiceEndpoint from) {
        if (endpoint != null && random.nextBoolean()) {
            endpoint.send(from, from.queueKey());
        }
    }

    /** Gives the answers that are due, and sends some datagrams. */
    void work() {
        if (isKilled || host.isPaused()) {
            return;
        }
        long now = services.nowNanos();
        for (int i = pending.size() - 1; i >= 0; i--) {
            if (pending.get(i).atNanos <= now) {
                Pending due = pending.remove(i);
                answer(due.request, due.exchange);
            }
        }
        if (endpoint != null) {
            endpoint.work();
        }
    }

    /** Marks the application as killed, because its host crashes. */
    void kill() {
        isKilled = true;
        pending.clear();
        if (endpoint != null) {
            endpoint.kill();
        }
    }

    /** Returns whether it has nothing to do. */
    boolean isIdle() {
        return isKilled || pending.isEmpty() && (endpoint == null || endpoint.isDone());
    }
}
