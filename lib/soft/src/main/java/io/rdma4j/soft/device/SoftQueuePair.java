package io.rdma4j.soft.device;

import io.rdma4j.sharing.Port;
import io.rdma4j.soft.engine.DrivenQueuePair;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.soft.events.QueuePairErrorEvent;
import io.rdma4j.soft.report.QueuePairReport;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.XrcDomain;
import io.rdma4j.verbs.abi.BatchPosting;
import io.rdma4j.verbs.spi.RequiredAttributes;
import io.rdma4j.verbs.spi.SpinLock;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A queue pair of any transport. */
final class SoftQueuePair implements QueuePair, BatchPosting {
    static final String CREATE = "ibv_create_qp";

    private static final System.Logger LOGGER = System.getLogger(SoftQueuePair.class.getName());

    private final SoftProtectionDomain domain;
    private final Engine engine;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final @Nullable SoftSharedReceiveQueue sharedReceives;
    private final @Nullable SoftXrcDomain xrcDomain;
    private final QueuePairCapabilities capabilities;
    private final @Nullable Object userContext;
    private final QueuePairType type;
    private final QueuePairMachine machine;
    private final DrivenQueuePair driven;
    private final QueuePairSettings settings;
    private final MulticastAttachments multicast;
    private final SpinLock sendLock = new SpinLock();
    private final PostLock<SendWorkRequest> sends = new PostLock<>(sendLock, this::enqueue, this::transmit);
    private final PostLock<ReceiveWorkRequest> receives =
            new PostLock<>(new SpinLock(), this::enqueue, this::flushIfFailed);
    private volatile boolean closed;

    private SoftQueuePair(
            SoftProtectionDomain domain,
            QueuePairInitAttributes attributes,
            SoftCompletionQueue sendCompletions,
            SoftCompletionQueue receiveCompletions,
            @Nullable SoftSharedReceiveQueue sharedReceives,
            @Nullable SoftXrcDomain xrcDomain,
            Engine engine,
            int number) {
        this.domain = domain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.engine = engine;
        this.sharedReceives = sharedReceives;
        this.xrcDomain = xrcDomain;
        capabilities = QueuePairInitChecks.capabilities(attributes);
        userContext = attributes.context();
        type = RequiredAttributes.type(attributes);
        machine = machine(number, attributes);
        driven = engine.addQueuePair(machine, this::onFailure);
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            driven.receiveAt(domain.softContext().softDevice()::has);
        }
        if (attributes.blockMulticastLoopback()) {
            driven.blockMulticastLoopback(domain.softContext().softDevice()::has);
        }
        RunningStack stack = domain.softContext().stack();
        SoftDevice device = domain.softContext().softDevice();
        multicast = new MulticastAttachments(stack.groups(), device, driven);
        settings = new QueuePairSettings(engine, stack.ports(), device, type, machine, driven);
    }

    private QueuePairMachine machine(int number, QueuePairInitAttributes attributes) {
        QueuePairMachine.Configuration configuration = new QueuePairMachine.Configuration(
                capabilities.maxSendWorkRequests(),
                capabilities.maxReceiveWorkRequests(),
                capabilities.maxSendScatterGather(),
                capabilities.maxReceiveScatterGather(),
                capabilities.maxInlineBytes(),
                attributes.signalAll(),
                domain.number(),
                sharedReceives == null ? null : sharedReceives.queue(),
                xrcDomain == null ? null : xrcDomain.domain());
        return switch (type) {
            case RELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE ->
                new RcQueuePair(
                        role(),
                        number,
                        configuration,
                        engine.engines().memory(),
                        sendCompletions.from(engine),
                        receiveCompletions.from(engine),
                        this::onAsyncEvent);
            case UNRELIABLE_CONNECTION ->
                new UcQueuePair(
                        number,
                        configuration,
                        engine.engines().memory(),
                        sendCompletions.from(engine),
                        receiveCompletions.from(engine),
                        this::onAsyncEvent);
            case UNRELIABLE_DATAGRAM ->
                new UdQueuePair(
                        number,
                        configuration,
                        sendCompletions.from(engine),
                        receiveCompletions.from(engine),
                        this::onAsyncEvent);
        };
    }

    private RcQueuePair.Role role() {
        return switch (type) {
            case XRC_SEND -> RcQueuePair.Role.INITIATOR;
            case XRC_RECEIVE -> RcQueuePair.Role.TARGET;
            default -> RcQueuePair.Role.CONNECTED;
        };
    }

    static SoftQueuePair create(SoftProtectionDomain domain, QueuePairInitAttributes attributes) {
        SoftContext context = domain.softContext();
        SoftCompletionQueue send =
                QueuePairInitChecks.completions(context, RequiredAttributes.sendCompletions(attributes));
        SoftCompletionQueue receive =
                QueuePairInitChecks.completions(context, RequiredAttributes.receiveCompletions(attributes));
        SoftSharedReceiveQueue shared = QueuePairInitChecks.sharedReceives(context, attributes.sharedReceiveQueue());
        QueuePairInitChecks.check(attributes);
        Engine engine = engine(context, RequiredAttributes.type(attributes), send);
        context.engine().lock();
        engine.lockInner();
        try {
            send.requireOpen(CREATE);
            receive.requireOpen(CREATE);
            if (shared != null) {
                shared.requireOpen(CREATE);
            }
            XrcDomain wantedDomain = attributes.xrcDomain();
            SoftXrcDomain xrcDomain = wantedDomain == null ? null : SoftXrcDomain.of(CREATE, context, wantedDomain);
            SoftQueuePair queuePair = newQueuePair(domain, attributes, send, receive, shared, xrcDomain, engine);
            if (shared != null) {
                shared.addUser();
            }
            if (xrcDomain != null) {
                xrcDomain.changeQueuePairs(1);
            }
            context.softDevice().counters().add(queuePair.machine.counters());
            send.addUser(queuePair);
            receive.addUser(queuePair);
            return queuePair;
        } finally {
            engine.unlock();
            context.engine().unlock();
        }
    }

    /** Creates a queue pair from checked attributes; under the locks of its engine and the main one. */
    private static SoftQueuePair newQueuePair(
            SoftProtectionDomain domain,
            QueuePairInitAttributes attributes,
            SoftCompletionQueue send,
            SoftCompletionQueue receive,
            @Nullable SoftSharedReceiveQueue shared,
            @Nullable SoftXrcDomain xrcDomain,
            Engine engine) {
        int number = engine.reserveQueuePairNumber();
        if (number < 0) {
            throw new RdmaException(
                    CREATE, Errno.ENOMEM, engine.queuePairCount() + " queue pairs", "Close some that are not used");
        }
        boolean isCreated = false;
        try {
            SoftQueuePair queuePair =
                    new SoftQueuePair(domain, attributes, send, receive, shared, xrcDomain, engine, number);
            isCreated = true;
            return queuePair;
        } finally {
            if (!isCreated) { // out of memory
                engine.releaseQueuePairNumber(number);
            }
        }
    }

    /**
     * Returns the engine that drives a queue pair. The main engine drives all queue pairs that share ports, groups or receives
     * with others.
     */
    private static Engine engine(SoftContext context, QueuePairType type, SoftCompletionQueue send) {
        boolean isConnection = type == QueuePairType.RELIABLE_CONNECTION || type == QueuePairType.UNRELIABLE_CONNECTION;
        return isConnection ? context.engines().engine(send.completionVector()) : context.engine();
    }

    private SoftDevices devices() {
        return domain.softContext().softDevice().devices();
    }

    // ---- events of the transport, under the engine lock ----

    private void onAsyncEvent(io.rdma4j.transport.QueuePairEvent event) {
        if (event == io.rdma4j.transport.QueuePairEvent.SPOOFING_SUSPECTED) {
            devices().warnings().onSpoofingSuspected(this, machine.counters());
            return;
        }
        if (event == io.rdma4j.transport.QueuePairEvent.ACCESS_ERROR) {
            devices()
                    .peerReputation()
                    .noteViolation(new Gid(driven.remoteHigh(), driven.remoteLow()), engine.nowNanos());
        }
        if (isError(event) && FlightEvents.isOn()) {
            reportError(event.name(), "");
        }
        domain.softContext()
                .onAsyncEvent(
                        switch (event) {
                            case COMMUNICATION_ESTABLISHED -> AsyncEvent.Type.COMMUNICATION_ESTABLISHED;
                            case QUEUE_PAIR_FATAL -> AsyncEvent.Type.QUEUE_PAIR_FATAL;
                            case REQUEST_ERROR -> AsyncEvent.Type.QUEUE_PAIR_REQUEST_ERROR;
                            case ACCESS_ERROR -> AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR;
                            case SEND_QUEUE_DRAINED -> AsyncEvent.Type.SEND_QUEUE_DRAINED;
                            case LAST_RECEIVE_REACHED -> AsyncEvent.Type.QUEUE_PAIR_LAST_WORK_REQUEST_REACHED;
                            case SPOOFING_SUSPECTED -> throw new AssertionError("no event of the verbs");
                        },
                        this);
    }

    private static boolean isError(io.rdma4j.transport.QueuePairEvent event) {
        return switch (event) {
            case QUEUE_PAIR_FATAL, REQUEST_ERROR, ACCESS_ERROR -> true;
            default -> false;
        };
    }

    /** Reports that code that runs for this queue pair threw an exception or Error. The queue pair is in the error state. */
    private void onFailure(Throwable cause) {
        domain.softContext().onAsyncEvent(AsyncEvent.Type.QUEUE_PAIR_FATAL, this);
        try {
            LOGGER.log(System.Logger.Level.WARNING, this + " failed: " + cause, cause);
            if (FlightEvents.isOn()) {
                reportError(AsyncEvent.Type.QUEUE_PAIR_FATAL.name(), cause.toString());
            }
        } catch (RuntimeException | Error again) {
            // There is no memory for the text, or a log handler failed: the program still gets the event.
            return;
        }
    }

    /** Reports an error to Flight Recorder, which must be on; under the engine lock. */
    void reportError(String status, String explanation) {
        QueuePairErrorEvent event = new QueuePairErrorEvent();
        if (event.shouldCommit()) {
            Port port = driven.port();
            event.device = domain.softContext().softDevice().name();
            event.local = port == null ? "" : FlightEvents.address(port.address());
            event.peer = FlightEvents.address(driven.remoteHigh(), driven.remoteLow());
            event.queuePair = FlightEvents.queuePair(number());
            event.type = type.name();
            event.status = status;
            event.explanation = explanation;
            event.commit();
        }
    }

    /**
     * Moves the queue pair to the error state, because a completion queue has overrun; under the lock of any engine.
     */
    void fail() {
        if (engine.isLocked()) {
            machine.toError();
            engine.activate(driven);
        } else {
            failSoon();
        }
    }

    /** Moves the queue pair to the error state, immediately or in the cycle of the driving thread; any thread. */
    void failSoon() {
        engine.failAsync(driven);
    }

    /** Returns the engine that drives it. */
    Engine engine() {
        return engine;
    }

    // ---- accessors ----

    @Override
    public int number() {
        return machine.number();
    }

    @Override
    public QueuePairType type() {
        return type;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public CompletionQueue sendCompletions() {
        return sendCompletions;
    }

    @Override
    public CompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceives;
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public QueuePairState state() {
        return machine.state();
    }

    @Override
    public Map<String, Long> counters() {
        return Counters.of(machine.counters());
    }

    /** Returns the current state for other processes and for Flight Recorder. */
    QueuePairReport report() {
        QueuePairAttributes known = settings.query();
        boolean hasPeer = known.present().contains(QueuePairAttribute.DESTINATION_QUEUE_PAIR);
        Port port;
        long remoteHigh;
        long remoteLow;
        engine.lock();
        try {
            port = driven.port();
            remoteHigh = driven.remoteHigh();
            remoteLow = driven.remoteLow();
        } finally {
            engine.unlock();
        }
        return new QueuePairReport(
                domain.softContext().softDevice().name(),
                number(),
                type.name(),
                known.state().name(),
                port == null ? "" : FlightEvents.address(port.address()),
                FlightEvents.address(remoteHigh, remoteLow),
                hasPeer ? known.destinationQueuePair() : 0,
                driven.sentBytes(),
                driven.receivedBytes(),
                counters());
    }

    @Override
    public String explain(CompletionStatus status) {
        return machine instanceof RcQueuePair connection
                ? QueuePairExplanations.of(status, connection.sendParameters())
                : status.text();
    }

    // ---- attributes ----

    @Override
    public void modify(QueuePairAttributes attributes) {
        requireOpen("ibv_modify_qp");
        settings.modify(attributes);
        if (attributes.present().contains(QueuePairAttribute.STATE) && attributes.state() == QueuePairState.RESET) {
            sendCompletions.forgetCompletions(this);
            receiveCompletions.forgetCompletions(this);
        }
    }

    @Override
    public QueuePairAttributes query() {
        requireOpen("ibv_query_qp");
        return settings.query();
    }

    @Override
    public void setKeepAlive(Duration interval) {
        requireOpen(QueuePairSettings.KEEP_ALIVE);
        settings.keepAlive(interval);
    }

    @Override
    public void setRateLimit(long kilobitsPerSecond) {
        requireOpen("ibv_modify_qp_rate_limit");
        settings.rateLimit(kilobitsPerSecond);
    }

    private void requireOpen(String operation) {
        if (closed) {
            throw new ClosedException(operation, this + " is closed", "");
        }
    }

    // ---- multicast ----

    @Override
    public void attachMulticast(Gid group) {
        InetAddress local = multicast.localAddress(type, group);
        engine.lock();
        try {
            requireOpen(MulticastAttachments.ATTACH);
            multicast.attach(group, local);
        } finally {
            engine.unlock();
        }
    }

    @Override
    public void detachMulticast(Gid group) {
        engine.lock();
        try {
            requireOpen(MulticastAttachments.DETACH);
            multicast.detach(group);
        } finally {
            engine.unlock();
        }
    }

    // ---- posting ----

    @Override
    public void postSend(SendWorkRequest request) {
        sends.post(request);
    }

    @Override
    public void postSends(SendWorkRequest[] requests, int count) {
        sends.postAll(requests, count);
    }

    @Override
    public void postTogether(SendWorkRequest[] requests, int count) {
        sendLock.lock();
        try {
            for (int i = 0; i < count; i++) {
                prepare(requests[i], i);
            }
            machine.sendQueue().publish(count);
        } finally {
            sendLock.unlock();
        }
        transmit();
    }

    private void transmit() {
        engine.post(driven);
    }

    private void enqueue(SendWorkRequest request) {
        prepare(request, 0);
        machine.sendQueue().publish();
    }

    /** Fills the slot of a request that is published together with {@code before} others before it. */
    private void prepare(SendWorkRequest request, int before) {
        WorkRequestChecks.check(this, request);
        requireSendState();
        SendRequest slot = machine.sendQueue().claim(before);
        if (slot == null) {
            throw full("ibv_post_send", "send", capabilities.maxSendWorkRequests());
        }
        WorkRequestChecks.fill(slot, request, domain);
    }

    private void requireSendState() {
        requireOpen("ibv_post_send");
        QueuePairState state = machine.state();
        if (state.compareTo(QueuePairState.READY_TO_SEND) < 0) {
            throw new RdmaException(
                    "ibv_post_send",
                    Errno.EINVAL,
                    this + " is in the state " + state,
                    "Connect it first: sends can be posted in READY_TO_SEND and later states");
        }
    }

    private RdmaException full(String operation, String queue, int slots) {
        return new RdmaException(
                operation,
                Errno.ENOMEM,
                "the " + queue + " queue of " + this + " is full, " + slots + " work requests",
                "Poll completions before posting more, or make the queue larger; a send work request that is"
                        + " not signaled frees its slot when a later one completes");
    }

    @Override
    public void postReceive(ReceiveWorkRequest request) {
        receives.post(request);
    }

    @Override
    public void postReceives(ReceiveWorkRequest[] requests, int count) {
        receives.postAll(requests, count);
    }

    private void enqueue(ReceiveWorkRequest request) {
        requireReceives(request);
        ReceiveRequest slot = machine.receiveQueue().claim();
        if (slot == null) {
            throw full("ibv_post_recv", "receive", capabilities.maxReceiveWorkRequests());
        }
        slot.workRequestId = request.id();
        WorkRequestChecks.copyList("ibv_post_recv", request.list(), slot.list, domain);
        machine.receiveQueue().publish();
    }

    private void requireReceives(ReceiveWorkRequest request) {
        requireOpen("ibv_post_recv");
        if (type == QueuePairType.XRC_SEND || type == QueuePairType.XRC_RECEIVE) {
            throw new RdmaException(
                    "ibv_post_recv",
                    Errno.EINVAL,
                    this + " is of an extended connection",
                    "Post receives to the shared receive queue");
        }
        if (sharedReceives != null) {
            throw new RdmaException(
                    "ibv_post_recv",
                    Errno.EINVAL,
                    this + " takes its receives from a " + sharedReceives,
                    "Post them there");
        }
        int pieces = request.list().count();
        if (pieces > capabilities.maxReceiveScatterGather()) {
            throw new RdmaException(
                    "ibv_post_recv",
                    Errno.EINVAL,
                    pieces + " pieces for " + this + ", which takes " + capabilities.maxReceiveScatterGather(),
                    "Create the queue pair with a larger max_recv_sge");
        }
        if (machine.state() == QueuePairState.RESET) {
            throw new RdmaException(
                    "ibv_post_recv",
                    Errno.EINVAL,
                    this + " is in the state RESET",
                    "Receives can be posted in INIT and later states");
        }
    }

    private void flushIfFailed() {
        // Posted before the check of the state: either this thread sees the error, or the thread that caused it sees
        // the receive.
        VarHandle.fullFence();
        if (machine.state() == QueuePairState.ERROR) {
            engine.post(driven);
        }
    }

    // ---- end ----

    @Override
    public void close() {
        domain.softContext().engine().lock();
        engine.lockInner();
        try {
            if (closed) {
                return;
            }
            closed = true;
            engine.reset(driven);
            multicast.detachAll();
            engine.removeQueuePair(driven);
            domain.softContext().softDevice().counters().close(machine.counters());
            sendCompletions.removeUser(this);
            receiveCompletions.removeUser(this);
            if (xrcDomain != null) {
                xrcDomain.changeQueuePairs(-1);
            }
            if (sharedReceives != null) {
                sharedReceives.removeUser();
            }
        } finally {
            engine.unlock();
            domain.softContext().engine().unlock();
        }
        domain.softContext().finishEvents(this);
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "queue pair 0x%06x".formatted(number());
    }
}
