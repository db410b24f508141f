package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.tools.command.GidText;
import io.rdma4j.tools.command.HostAddresses;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A run of mckey: members of a multicast group that send or receive. */
final class MckeyRun extends DatagramRun {
    /** Overrides the pause between joining and sending, in milliseconds. */
    static final String PAUSE_PROPERTY = "rdma4j.tools.mckey.pause";

    /** The pause of the C tool, during which switches learn the members. */
    private static final long PAUSE_MILLIS = 3000;

    private final MckeyOptions options;
    private @Nullable InetAddress source;
    private InetAddress group = InetAddress.getLoopbackAddress();
    private final List<Node> members = new ArrayList<>();
    private boolean joined;

    MckeyRun(MckeyOptions options, ToolEnvironment environment) {
        super(
                environment,
                "mckey",
                options.portSpace(),
                options.connections(),
                options.messageCount(),
                options.messageBytes());
        this.options = options;
    }

    @Override
    boolean isActive() {
        return true;
    }

    @Override
    boolean hasLoopback() {
        return options.loopback();
    }

    @Override
    int exchange() {
        report.step("starting " + (options.sender() ? "client" : "server"));
        int status = lookUp();
        if (status != 0) {
            return status;
        }
        report.step("joining");
        status = join();
        if (status == 0) {
            status = connectEvents();
        }
        joined = status == 0;
        if (status == 0) {
            status = exchangeMessages();
        }
        int left = leave();
        return status == 0 ? left : status;
    }

    private int lookUp() {
        try {
            if (options.source() != null) {
                source = HostAddresses.first(options.source());
            }
            group = HostAddresses.first(Objects.requireNonNullElse(options.group(), ""));
            return 0;
        } catch (HostAddresses.LookupException e) {
            report.line("getaddrinfo failed (" + e.getMessage() + ") - invalid hostname or IP address");
            return e.code();
        }
    }

    // ---- joining

    private int join() {
        for (Node node : nodes) {
            InetSocketAddress local = source == null ? null : new InetSocketAddress(source, 0);
            try {
                if (local != null) {
                    node.id().bindAddress(local);
                }
            } catch (RdmaException e) {
                report.stepFailure("addr bind failure", e);
                return connectError();
            }
            int status = options.unmapped() ? onAddressResolved(node) : resolve(node, local);
            if (status != 0) {
                return status;
            }
        }
        return 0;
    }

    private int resolve(Node node, @Nullable InetSocketAddress local) {
        try {
            node.id().resolveAddress(local, new InetSocketAddress(group, 0), RESOLUTION);
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("resolve addr failure", e);
            return connectError();
        }
    }

    @Override
    int handle(CmEvent event) {
        return switch (event.type()) {
            case ADDRESS_RESOLVED ->
                onAddressResolved((Node) Objects.requireNonNull(event.id().context()));
            case MULTICAST_JOIN -> onJoin((CmEvent.MulticastJoin) event);
            case ADDRESS_ERROR, ROUTE_ERROR, MULTICAST_ERROR -> {
                report.errorEvent(event);
                if (!joined) {
                    connectError();
                }
                if (event.type() == CmEvent.Type.MULTICAST_ERROR) {
                    members.remove((Node) event.id().context());
                }
                yield event.status();
            }
            default -> 0;
        };
    }

    private int onAddressResolved(Node node) {
        int status = prepare(node);
        if (status == 0 && !options.sender()) {
            status = postReceives(node);
        }
        if (status != 0) {
            connectError();
            return status;
        }
        try {
            node.id().joinMulticast(attributes(), node);
            members.add(node);
            return 0;
        } catch (RdmaException e) {
            report.stepFailure("failure joining", e);
            return connectError();
        }
    }

    private MulticastJoinAttributes attributes() {
        MulticastJoinAttributes wanted = options.unmapped()
                ? MulticastJoinAttributes.unmapped(Gid.of(group))
                : MulticastJoinAttributes.of(group);
        return options.sendOnly() ? wanted.withFlag(MulticastJoinFlag.SEND_ONLY_FULL_MEMBER) : wanted;
    }

    private int onJoin(CmEvent.MulticastJoin event) {
        Gid gid = event.group().addressVector().destination();
        report.step("joined dgid: " + GidText.of(gid) + " mlid 0x0 sl 0");
        return connected((Node) Objects.requireNonNull(event.context()), event.group());
    }

    // ---- messages

    private int exchangeMessages() {
        try {
            Thread.sleep(Long.getLong(PAUSE_PROPERTY, PAUSE_MILLIS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (messages == 0) {
            return 0;
        }
        report.line(options.sender() ? "initiating data transfers" : "receiving data transfers");
        int status = options.sender() ? postSends(false) : pollAll(true);
        if (status == 0) {
            report.line("data transfers complete");
        }
        return status;
    }

    @Override
    int whileIdle() {
        CmEvent event = channel().poll();
        if (event != null) {
            try (event) {
                switch (event.type()) {
                    case MULTICAST_ERROR, ADDRESS_CHANGE ->
                        report.step("event: " + event.type().text() + ", status: " + event.status());
                    default -> {}
                }
            }
        }
        return 0;
    }

    /**
     * Leaves the group for all members. C also leaves for nodes that have not joined, and reports errors for these.
     */
    private int leave() {
        int status = 0;
        for (Node node : members) {
            try {
                if (options.unmapped()) {
                    node.id().leaveMulticast(Gid.of(group));
                } else {
                    node.id().leaveMulticast(group);
                }
            } catch (RdmaException e) {
                report.stepFailure("failure leaving", e);
                status = -1;
            }
        }
        return status;
    }
}
