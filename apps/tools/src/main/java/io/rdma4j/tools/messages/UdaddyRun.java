package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.util.Objects;

/** A run of udaddy: datagram services resolved by the connection manager, messages to the server, and replies. */
final class UdaddyRun extends DatagramRun {
    private final MessageOptions options;

    UdaddyRun(MessageOptions options, ToolEnvironment environment) {
        super(
                environment,
                "udaddy",
                options.portSpace(),
                options.connections(),
                options.messageCount(),
                options.messageBytes());
        this.options = options;
    }

    @Override
    boolean isActive() {
        return options.server() != null;
    }

    @Override
    int exchange() {
        return isActive() ? client() : runServer(options, _ -> serve());
    }

    // ---- server

    private int serve() {
        int status = connectEvents();
        if (status != 0 || messages == 0) {
            return status;
        }
        report.line("receiving data transfers");
        status = pollAll(false);
        if (status == 0) {
            report.line("sending replies");
            status = postSends(true);
        }
        if (status == 0) {
            status = pollAll(false);
        }
        if (status == 0) {
            report.line("data transfers complete");
        }
        return status;
    }

    /** Takes the reply address from the first message of a client. */
    @Override
    int onCompletion(Node node, WorkCompletion completion) {
        if (node.handle != null || !completion.opcode().isReceive()) {
            return 0;
        }
        QueuePair queuePair = Objects.requireNonNull(node.id().queuePair());
        try {
            node.handle = node.domain()
                    .createAddressHandle(
                            completion, node.region().memory(), node.id().portNumber());
        } catch (RdmaException e) {
            report.step("failed to create reply AH");
            report.explain(String.valueOf(e.getMessage()));
            return -1;
        }
        node.remoteQueuePair = completion.immediate();
        node.remoteQueueKey = queuePair.query().queueKey();
        return 0;
    }

    // ---- client

    private int client() {
        int status = startClient(options);
        if (status == 0) {
            status = connectEvents();
        }
        if (status != 0 || messages == 0) {
            return status;
        }
        report.line("initiating data transfers");
        status = postSends(false);
        if (status == 0) {
            report.line("receiving data transfers");
            status = pollAll(false);
        }
        if (status == 0) {
            report.line("data transfers complete");
        }
        return status;
    }

    // ---- events

    @Override
    int handle(CmEvent event) {
        return switch (event.type()) {
            case ADDRESS_RESOLVED -> onAddressResolved(node(event));
            case ROUTE_RESOLVED -> onRouteResolved(node(event));
            case CONNECT_REQUEST -> onRequest(event.id());
            case ESTABLISHED -> connected(node(event), ((CmEvent.ServiceResolved) event).datagram());
            case ADDRESS_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> onErrorEvent(event);
            default -> 0;
        };
    }

    private int onAddressResolved(Node node) {
        setTypeOfService(node, options);
        return resolveRoute(node);
    }

    private int onRouteResolved(Node node) {
        int status = prepare(node);
        if (status == 0) {
            status = postReceives(node);
        }
        if (status != 0) {
            connectError();
            return status;
        }
        return connect(node, ConnectionParameters.NONE);
    }

    private int onRequest(CmId id) {
        Node node = accepted(id);
        int status = node == null ? -Errno.ENOMEM.number() : prepare(node);
        if (status == 0 && node != null) {
            status = postReceives(node);
        }
        if (status == 0 && node != null) {
            try {
                id.accept(ConnectionParameters.NONE);
                node.connected = true;
                connectsLeft--;
                return 0;
            } catch (RdmaException e) {
                report.stepFailure("failure accepting", e);
                status = -1;
            }
        }
        refuse(id, node == null);
        return status;
    }
}
