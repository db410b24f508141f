package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
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
        return isActive() ? client() : server();
    }

    // ---- server

    private int server() {
        report.step("starting server");
        CmId listener;
        try {
            listener = channel().createId(options.portSpace());
        } catch (RdmaException e) {
            report.stepFailure("listen request failed", e);
            return -1;
        }
        try {
            int status = listen(listener);
            return status == 0 ? serve() : status;
        } finally {
            listener.close();
        }
    }

    private int listen(CmId listener) {
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
        report.step("starting client");
        AddressInformation found = lookUp(options);
        if (found == null) {
            return -1;
        }
        report.step("connecting");
        int status = resolveAll(found);
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
            case ESTABLISHED -> connected(node(event), Objects.requireNonNull(event.datagram()));
            case ADDRESS_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
                report.errorEvent(event);
                connectError();
                yield event.status();
            }
            default -> 0;
        };
    }

    private static Node node(CmEvent event) {
        return (Node) Objects.requireNonNull(event.id().context());
    }

    private int onAddressResolved(Node node) {
        try {
            if (options.typeOfService() >= 0) {
                node.id().setTypeOfService(options.typeOfService());
            }
        } catch (RdmaException e) {
            report.stepFailure("set TOS option failed", e);
        }
        try {
            node.id().resolveRoute(RESOLUTION);
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("resolve route failed", e);
            return connectError();
        }
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
        try {
            node.id().connect(ConnectionParameters.NONE);
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("failure connecting", e);
            return connectError();
        }
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

    private void refuse(CmId id, boolean isSurplus) {
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
}
