package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.CmAddresses;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run of ucmatose, udaddy or mckey, in the same steps as in C.
 *
 * <p>The steps are: create nodes, handle events until all nodes are connected, exchange messages, and close. Each
 * returns what its C counterpart returns: 0, an errno, a status of an event, or -1.
 *
 * <p>If a C tool would wait indefinitely for a message, a run ends with an explanation instead.
 */
abstract class MessageRun {
    static final Duration RESOLUTION = Duration.ofSeconds(2);

    /** Limits the identifiers that are created at the start. */
    private static final int MAX_CONNECTIONS = 100_000;

    private static final int RESERVE_BYTES = 1 << 20;
    private static final int BATCH = 8;
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    final MessageReport report;
    final List<Node> nodes = new ArrayList<>();
    int connectsLeft;

    /** Released when the heap is full, so that the nodes can be closed. */
    private final List<byte[]> reserve = new ArrayList<>(List.of(new byte[RESERVE_BYTES]));

    private final ToolEnvironment environment;
    private final int connections;
    private final PortSpace portSpace;
    private @Nullable EventChannel channel;
    private volatile boolean interrupted;
    private long messages;

    MessageRun(ToolEnvironment environment, String tool, PortSpace portSpace, int connections) {
        this.environment = environment;
        this.portSpace = portSpace;
        this.connections = connections;
        report = new MessageReport(environment, tool);
        connectsLeft = connections;
    }

    /** Runs the tool and returns the exit status. */
    final int run() {
        EventChannel opened = openChannel();
        if (opened == null) {
            return 1;
        }
        channel = opened;
        Runnable atInterrupt = () -> {
            interrupted = true;
            report.silence();
        };
        environment.onInterrupt(atInterrupt);
        long began = System.nanoTime();
        int status;
        try {
            status = allocate() ? exchange() : 1;
            report.line("test complete");
        } finally {
            nodes.forEach(Node::close);
            channel().close();
            environment.removeOnInterrupt(atInterrupt);
        }
        environment
                .report()
                .result("connections", nodes.size())
                .result("messagesReceived", messages)
                .result("elapsedSeconds", (System.nanoTime() - began) / 1e9)
                .result("status", status);
        report.line("return status " + status);
        return status;
    }

    /** Performs the run between the creation and the destruction of the nodes. */
    abstract int exchange();

    /** Returns whether this side creates the nodes' identifiers at the start. A server gets them with the requests. */
    abstract boolean isActive();

    // ---- channel and nodes

    final EventChannel channel() {
        return Objects.requireNonNull(channel);
    }

    final void channel(EventChannel other) {
        channel = other;
    }

    final @Nullable EventChannel openChannel() {
        try {
            return EventChannel.open();
        } catch (RdmaException e) {
            if (e.errno() == Errno.ENODEV) {
                report.errorLine("No RDMA devices were detected");
                report.explain(String.valueOf(e.getMessage()));
            } else {
                report.failure("failed to create RDMA CM event channel", e);
            }
            return null;
        }
    }

    private boolean allocate() {
        if (connections > MAX_CONNECTIONS) {
            report.explain("-c must be at most " + MAX_CONNECTIONS);
            return false;
        }
        CmId alone = null;
        try {
            for (int i = 0; isActive() && i < connections; i++) {
                alone = channel().createId(portSpace);
                Node node = new Node(alone);
                alone.setContext(node);
                nodes.add(node);
                alone = null;
            }
            return true;
        } catch (RdmaException e) {
            report.stepFailure("unable to create identifiers", e);
        } catch (OutOfMemoryError e) {
            reserve.clear();
            int made = nodes.size();
            if (alone != null) {
                alone.close();
            }
            while (!nodes.isEmpty()) {
                nodes.removeLast().close();
            }
            report.step("unable to allocate memory for test nodes");
            report.explain("there is memory for " + made + " connections: " + e.getMessage() + "; use a smaller -c");
        }
        return false;
    }

    /** Reports that there is no memory for the messages of a node, and returns the C tool's status. */
    final int noMemory(OutOfMemoryError cause) {
        report.line("failed message allocation");
        report.explain(cause.getMessage() + "; use a smaller -S");
        report.step("failed to create messages: -1");
        return -1;
    }

    /** Creates the node for a request. Returns null if all nodes are in use. */
    final @Nullable Node accepted(CmId id) {
        if (nodes.size() == connections) {
            return null;
        }
        Node node = new Node(id);
        id.setContext(node);
        nodes.add(node);
        return node;
    }

    final int connectError() {
        connectsLeft--;
        return -1;
    }

    // ---- server and client

    /**
     * Listens at the address of the command line, serves, and closes the listener.
     *
     * @param serve serves the listener, and returns a status
     */
    final int runServer(MessageOptions options, ToIntFunction<CmId> serve) {
        report.step("starting server");
        CmId listener;
        try {
            listener = channel().createId(portSpace);
        } catch (RdmaException e) {
            report.stepFailure("listen request failed", e);
            return -1;
        }
        try {
            int status = listen(listener, options);
            return status == 0 ? serve.applyAsInt(listener) : status;
        } finally {
            listener.close();
        }
    }

    private int listen(CmId listener, MessageOptions options) {
        AddressInformation found = lookUp(options);
        if (found == null) {
            return -1;
        }
        try {
            listener.bindAddress(Objects.requireNonNull(found.source()));
        } catch (RdmaException e) {
            report.stepFailure("bind address failed", e);
            return -1;
        }
        try {
            listener.listen(0);
        } catch (RdmaException e) {
            report.stepFailure("failure trying to listen", e);
            return -1;
        }
        return 0;
    }

    /** Starts to resolve the address of the command line for every node of a client. */
    final int startClient(MessageOptions options) {
        report.step("starting client");
        AddressInformation found = lookUp(options);
        if (found == null) {
            return -1;
        }
        report.step("connecting");
        return resolveAll(found);
    }

    /** Sets the type of service of a node whose address is resolved. */
    final void setTypeOfService(Node node, MessageOptions options) {
        try {
            if (options.typeOfService() >= 0) {
                node.id().setTypeOfService(options.typeOfService());
            }
        } catch (RdmaException e) {
            report.stepFailure("set TOS option failed", e);
        }
    }

    final int resolveRoute(Node node) {
        try {
            node.id().resolveRoute(RESOLUTION);
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("resolve route failed", e);
            return connectError();
        }
    }

    final int connect(Node node, ConnectionParameters parameters) {
        try {
            node.id().connect(parameters);
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("failure connecting", e);
            return connectError();
        }
    }

    /**
     * Rejects a request.
     *
     * @param isSurplus true if all nodes are in use, so that there is no node for the request
     */
    final void refuse(CmId id, boolean isSurplus) {
        report.step("failing connection request");
        if (isSurplus) {
            report.explain("the number of connections given by -c is reached; start both sides with the same -c");
        } else {
            connectError();
        }
        try {
            id.reject(new byte[0]);
        } catch (RdmaException e) {
            report.explain(String.valueOf(e.getMessage()));
        }
        if (isSurplus) {
            id.close();
        }
    }

    /** Returns the node of the identifier of an event. */
    static Node node(CmEvent event) {
        return (Node) Objects.requireNonNull(event.id().context());
    }

    /** Reports an event that ends the connection attempt of a node. */
    final int onErrorEvent(CmEvent event) {
        report.errorEvent(event);
        connectError();
        return event.status();
    }

    // ---- addresses

    /** Resolves the addresses of the command line. Returns null if this failed. */
    final @Nullable AddressInformation lookUp(MessageOptions options) {
        Set<Flag> flags = EnumSet.noneOf(Flag.class);
        if (options.format() != MessageOptions.Format.NAME) {
            flags.add(Flag.NUMERIC_HOST);
        }
        try {
            return CmAddresses.lookUp(options.source(), options.server(), options.port(), flags, portSpace);
        } catch (AddressLookupException e) {
            report.line("rdma_getaddrinfo error: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
        } catch (RdmaException e) {
            report.failure("rdma_getaddrinfo error", e);
        }
        return null;
    }

    /** Starts to resolve the server's address for every node. */
    private int resolveAll(AddressInformation found) {
        for (Node node : nodes) {
            try {
                node.id().resolveAddress(found.source(), Objects.requireNonNull(found.destination()), RESOLUTION);
            } catch (RdmaException e) {
                report.stepFailure("failure getting addr", e);
                return connectError();
            }
        }
        return 0;
    }

    // ---- events

    /** Handles events until all nodes are connected or one has failed. */
    final int connectEvents() {
        int status = 0;
        while (connectsLeft > 0 && status == 0) {
            CmEvent event = nextEvent();
            if (event == null) {
                return Errno.EINTR.number();
            }
            status = handleAndAcknowledge(event);
        }
        return status;
    }

    final int handleAndAcknowledge(CmEvent event) {
        try (event) {
            return handle(event);
        }
    }

    /** Returns the next event, or null if the run must end. */
    final @Nullable CmEvent nextEvent() {
        while (!interrupted) {
            try {
                CmEvent event = channel().await(POLL_TIMEOUT);
                if (event != null) {
                    return event;
                }
            } catch (RdmaException failed) {
                if (failed.errno() == Errno.EINTR) {
                    return null;
                }
                throw failed;
            }
        }
        return null;
    }

    abstract int handle(CmEvent event);

    // ---- messages

    /**
     * Called while no message arrives. Returns 0 to continue waiting, or the status of a failure that has been
     * reported.
     */
    int whileIdle() {
        return 0;
    }

    /** Processes a completion. Returns 0 to continue. */
    int onCompletion(Node node, WorkCompletion completion) {
        return 0;
    }

    /**
     * Waits for {@code count} completions. If {@code waitForFirst} is set, the first one may take arbitrarily long.
     */
    final int poll(Node node, CompletionQueue queue, int count, boolean waitForFirst) {
        WorkCompletion[] batch = WorkCompletion.array(Math.min(BATCH, count));
        ReceiveTimeout timeout = new ReceiveTimeout();
        int done = 0;
        while (done < count) {
            int polled = queue.poll(batch);
            for (int i = 0; i < polled; i++) {
                int status = check(node, batch[i], done + i, count);
                if (status != 0) {
                    return status;
                }
            }
            done += polled;
            if (polled > 0) {
                timeout.restart();
            } else if (interrupted) {
                return Errno.EINTR.number();
            } else if ((done > 0 || !waitForFirst) && timeout.isExpired()) {
                report.explain(String.format(
                                Locale.ROOT,
                                "%d of %d messages have completed, and no other within %d s. Both sides must be"
                                        + " started",
                                done,
                                count,
                                timeout.seconds())
                        + " with the same -c and -C, and datagrams may have been lost");
                return -Errno.ETIMEDOUT.number();
            } else {
                int status = whileIdle();
                if (status != 0) {
                    return status;
                }
                Thread.onSpinWait();
            }
        }
        return 0;
    }

    private int check(Node node, WorkCompletion completion, int done, int count) {
        if (!completion.isSuccess()) {
            CompletionStatus why = completion.status();
            report.explain(String.format(
                    Locale.ROOT,
                    "message %d of %d of %s ended with %s (%s). Both sides must be started with the same -C and -S",
                    done + 1,
                    count,
                    node.id(),
                    why,
                    why.text()));
            return -Errno.EIO.number();
        }
        if (completion.opcode().isReceive()) {
            messages++;
        }
        return onCompletion(node, completion);
    }
}
