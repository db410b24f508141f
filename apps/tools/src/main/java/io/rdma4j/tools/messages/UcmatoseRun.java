package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** A run of ucmatose: connections, messages from the server and replies, and the disconnection. */
final class UcmatoseRun extends MessageRun {
    private static final int RETRIES = 5;

    private final MessageOptions options;
    private final int messages;
    private int disconnectsLeft;

    /** True while a disconnection is premature. */
    private boolean isExchanging = true;

    UcmatoseRun(MessageOptions options, ToolEnvironment environment) {
        super(environment, "cmatose", options.portSpace(), options.connections());
        this.options = options;
        messages = options.messageBytes() == 0 ? 0 : options.messageCount();
    }

    @Override
    boolean isActive() {
        return options.server() != null;
    }

    @Override
    int exchange() {
        return isActive() ? client() : runServer(options, this::serve);
    }

    // ---- server

    private int serve(CmId listener) {
        int status = connectEvents();
        if (status == 0 && messages > 0) {
            status = serveMessages();
        }
        if (status == 0 && options.migrate()) {
            status = migrate(listener);
        }
        if (status != 0) {
            disconnectAll();
            return status;
        }
        report.step("disconnecting");
        disconnectAll();
        status = disconnectEvents();
        report.line("disconnected");
        return status;
    }

    private int serveMessages() {
        report.line("initiating data transfers");
        int status = postSends();
        if (status == 0) {
            report.line("completing sends");
            status = pollAll(true);
        }
        if (status == 0) {
            report.line("receiving data transfers");
            status = pollAll(false);
        }
        if (status == 0) {
            report.line("data transfers complete");
        }
        return status;
    }

    // ---- client

    private int client() {
        int status = startClient(options);
        if (status != 0) {
            return status;
        }
        status = connectEvents();
        if (status == 0 && messages > 0) {
            status = answerMessages();
        }
        if (status == 0 && options.migrate()) {
            status = migrate(null);
        }
        if (status != 0) {
            disconnectAll(); // otherwise the server would wait for messages
        }
        int end = disconnectEvents();
        if (status == 0 && end == 0) {
            end = checkReplies();
        }
        return status == 0 ? end : status;
    }

    /**
     * Checks that the server has received the replies.
     *
     * <p>A server with different counts disconnects without receiving them, which the C tool does not notice.
     */
    private int checkReplies() {
        for (Node node : nodes) {
            CompletionStatus failure = messages == 0 ? null : node.sendFailure();
            if (failure != null) {
                report.explain(node.id() + ": the server has not received the replies, " + failure + " ("
                        + failure.text() + "). Both sides must be started with the same -c, -C and -S");
                return -Errno.EIO.number();
            }
        }
        return 0;
    }

    private int answerMessages() {
        report.line("receiving data transfers");
        int status = pollAll(false);
        if (status == 0) {
            report.line("sending replies");
            status = postSends();
        }
        if (status == 0) {
            report.line("data transfers complete");
        }
        return status;
    }

    // ---- messages

    private int postSends() {
        for (Node node : nodes) {
            try {
                if (node.connected) {
                    node.postSends(messages);
                }
            } catch (RdmaException e) {
                report.line("failed to post sends: " + e.errno().number());
                report.explain(String.valueOf(e.getMessage()));
                return e.errno().number();
            }
        }
        return 0;
    }

    private int pollAll(boolean sends) {
        for (Node node : nodes) {
            int status = node.connected ? poll(node, sends ? node.sends() : node.receives(), messages, false) : 0;
            if (status != 0) {
                return status;
            }
        }
        return 0;
    }

    @Override
    int whileIdle() {
        CmEvent event = channel().poll();
        return event == null ? 0 : handleAndAcknowledge(event);
    }

    // ---- events

    @Override
    int handle(CmEvent event) {
        return switch (event.type()) {
            case ADDRESS_RESOLVED -> onAddressResolved(node(event));
            case ROUTE_RESOLVED -> onRouteResolved(node(event));
            case CONNECT_REQUEST -> onRequest(event.id());
            case ESTABLISHED -> {
                node(event).connected = true;
                connectsLeft--;
                disconnectsLeft++;
                yield 0;
            }
            case ADDRESS_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> onErrorEvent(event);
            case DISCONNECTED -> onDisconnected(event);
            default -> 0;
        };
    }

    private int onAddressResolved(Node node) {
        setTypeOfService(node, options);
        setAckTimeout(node);
        return resolveRoute(node);
    }

    private void setAckTimeout(Node node) {
        try {
            if (options.ackTimeout() >= 0) {
                node.id().setAckTimeout(options.ackTimeout());
            }
        } catch (RdmaException e) {
            report.stepFailure("set ack timeout option failed", e);
        }
    }

    private int onRouteResolved(Node node) {
        int status = prepare(node);
        if (status != 0) {
            connectError();
            return status;
        }
        return connect(node, ConnectionParameters.NONE.withDepths(1, 1).withRetries(RETRIES, 0));
    }

    private int prepare(Node node) {
        try {
            node.createConnection(messages, options.messageBytes());
        } catch (RdmaException e) {
            report.stepFailure("unable to create QP", e);
            return -1;
        } catch (OutOfMemoryError e) {
            return noMemory(e);
        }
        try {
            node.postReceives(messages);
            return 0;
        } catch (RdmaException e) {
            report.line("failed to post receives: " + e.errno().number());
            report.explain(String.valueOf(e.getMessage()));
            return e.errno().number();
        }
    }

    private int onRequest(CmId id) {
        Node node = accepted(id);
        int status = node == null ? -Errno.ENOMEM.number() : prepare(node);
        if (status == 0 && node != null) {
            setAckTimeout(node);
            try {
                id.accept();
                return 0;
            } catch (RdmaException e) {
                report.stepFailure("failure accepting", e);
                status = -1;
            }
        }
        refuse(id, node == null);
        return status;
    }

    // ---- disconnecting

    private int onDisconnected(CmEvent event) {
        Node node = node(event);
        boolean wasConnected = node.connected;
        node.connected = false;
        disconnectsLeft--;
        try {
            event.id().disconnect();
        } catch (RdmaException ignored) {
            // As in C: there is nothing left to disconnect.
        }
        if (wasConnected && isExchanging) {
            report.explain(event.id() + ": the peer has disconnected before all "
                    + (connectsLeft > 0 ? "connections were established" : "messages were exchanged")
                    + ". Both sides must be started with the same -c and -C");
            return -Errno.ECONNRESET.number();
        }
        return 0;
    }

    private void disconnectAll() {
        isExchanging = false;
        for (Node node : nodes) {
            if (node.connected) {
                node.connected = false;
                try {
                    node.id().disconnect();
                } catch (RdmaException ignored) {
                    // The peer has already disconnected.
                }
            }
        }
    }

    private int disconnectEvents() {
        isExchanging = false;
        int status = 0;
        while (disconnectsLeft > 0 && status == 0) {
            CmEvent event = nextEvent();
            if (event == null) {
                return Errno.EINTR.number();
            }
            status = handleAndAcknowledge(event);
        }
        return status;
    }

    private int migrate(@Nullable CmId listener) {
        report.line("migrating to new event channel");
        EventChannel target = openChannel();
        if (target == null) {
            return -1;
        }
        EventChannel old = channel();
        try {
            if (listener != null) {
                listener.migrate(target);
            }
            for (Node node : nodes) {
                node.id().migrate(target);
            }
        } catch (RdmaException e) {
            report.stepFailure("failure migrating to channel", e);
            return -1;
        }
        channel(target);
        old.close();
        return 0;
    }
}
