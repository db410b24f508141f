package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.OnDemandOperation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** A run of ibv_xsrq_pingpong, from opening the device to the termination messages. */
final class XsrqRun {
    private final XsrqOptions options;
    private final ToolEnvironment environment;
    private final PingpongCalls calls;
    private final List<XsrqPeer> peers = new ArrayList<>();
    private final List<XsrqDestination> local = new ArrayList<>();
    private final List<XsrqDestination> remote = new ArrayList<>();

    XsrqRun(XsrqOptions options, PingpongCalls calls) {
        this.options = options;
        this.calls = calls;
        environment = calls.environment();
    }

    /**
     * Runs the test.
     *
     * @throws ToolFailure if something fails; the reason has been printed
     */
    void run() throws ToolFailure {
        Device device = device();
        try (Arena arena = Arena.ofShared();
                DeviceContext context = calls.call("Couldn't get context for " + device.name(), device::open)) {
            checkDevice(context);
            if (options.sizeBytes() < 0) {
                throw calls.failure("Couldn't allocate work buf.", "-s must not be negative");
            }
            MemorySegment memory = calls.allocate(arena, options.sizeBytes());
            XsrqResources resources = XsrqResources.create(calls, context, memory, options);
            XsrqLoop loop = new XsrqLoop(calls, options, resources, remote, peers);
            for (int i = 0; i < options.clients(); i++) {
                loop.postReceive();
            }
            String server = options.server();
            if (server == null) {
                acceptAll(context, resources);
            } else {
                connect(context, resources, server);
            }
            reportAddresses();
            long startNanos = System.nanoTime();
            loop.run();
            reportFigures(System.nanoTime() - startNanos);
            terminate();
        } finally {
            peers.forEach(XsrqPeer::close);
        }
        environment.out().println("success");
    }

    private Device device() throws ToolFailure {
        String name = options.device() == null ? "" : options.device();
        return Pingpong.find(options.device())
                .orElseThrow(() -> calls.failure("IB device " + name + " not found\nFailed to open device"));
    }

    private void checkDevice(DeviceContext context) throws ToolFailure {
        String refusal = PingpongTransport.onDemandRefusal(
                context,
                options.onDemand(),
                QueuePairType.XRC_SEND,
                OnDemandOperation.SHARED_RECEIVE,
                "XRC send, receive and srq");
        if (refusal != null) {
            throw calls.failure(refusal);
        }
        calls.call("Failed to get port info", () -> context.port(options.port()));
    }

    // ---- addresses

    private void connect(DeviceContext context, XsrqResources resources, String server) throws ToolFailure {
        XsrqPeer peer = new XsrqPeer(new SideChannel(calls, options.tcpPort()).connect(server), calls);
        peers.add(peer);
        LocalGid gid = sendLocal(peer, context, resources);
        receiveRemote(peer);
        resources.connect(calls, options, 0, gid, local.getFirst(), remote.getFirst());
    }

    private void acceptAll(DeviceContext context, XsrqResources resources) throws ToolFailure {
        try (ServerSocket listening = new ServerSocket()) {
            listen(listening);
            for (int i = 0; i < options.clients(); i++) {
                XsrqPeer peer = accept(listening, i);
                peers.add(peer);
                receiveRemote(peer);
                LocalGid gid = sendLocal(peer, context, resources);
                resources.connect(calls, options, i, gid, local.getLast(), remote.getLast());
            }
        } catch (IOException e) {
            throw calls.failure("Couldn't listen to port " + options.tcpPort(), e.getMessage());
        }
    }

    private void listen(ServerSocket listening) throws ToolFailure {
        try {
            listening.setReuseAddress(true);
            listening.bind(new InetSocketAddress(options.tcpPort()), options.clients());
        } catch (IOException e) {
            throw calls.failure("Couldn't listen to port " + options.tcpPort(), e.getMessage());
        }
    }

    private XsrqPeer accept(ServerSocket listening, int index) throws ToolFailure {
        try {
            return new XsrqPeer(listening.accept(), calls);
        } catch (IOException e) {
            throw calls.failure("accept() failed for client " + index, e.getMessage());
        }
    }

    private LocalGid sendLocal(XsrqPeer peer, DeviceContext context, XsrqResources resources) throws ToolFailure {
        int index = local.size();
        LocalGid gid = LocalGid.of(
                calls, context, options.port(), options.gidIndex(), "can't read sgid of index " + options.gidIndex());
        local.add(new XsrqDestination(
                0,
                resources.targets().get(index).number(),
                resources.initiators().get(index).number(),
                ThreadLocalRandom.current().nextInt(1 << 24),
                calls.call("Couldn't get SRQ num", resources.receives()::number),
                gid.gid()));
        print("local", local.getLast());
        peer.send(local.getLast());
        return gid;
    }

    private void receiveRemote(XsrqPeer peer) throws ToolFailure {
        remote.add(peer.receive(remote.size()));
        print("remote", remote.getLast());
    }

    private void print(String side, XsrqDestination destination) {
        environment.out().println(String.format(Locale.ROOT, "%8s: %s", side, destination));
    }

    // ---- termination

    /**
     * Waits for all sides to finish before any of them closes its queue pairs, since a message may still be
     * retransmitted.
     */
    private void terminate() throws ToolFailure {
        if (options.isClient()) {
            peers.getFirst().sendEnd();
        }
        for (XsrqPeer peer : peers) {
            peer.awaitEnd();
        }
        if (!options.isClient()) {
            for (XsrqPeer peer : peers) {
                peer.sendEnd();
            }
        }
    }

    // ---- JSON report

    private void reportAddresses() {
        environment
                .report()
                .result(
                        "localAddresses",
                        local.stream().map(XsrqDestination::toString).toList())
                .result(
                        "remoteAddresses",
                        remote.stream().map(XsrqDestination::toString).toList());
    }

    private void reportFigures(long elapsedNanos) {
        environment
                .report()
                .result("messagesReceived", options.messages())
                .result("bytesReceived", options.messages() * options.sizeBytes())
                .result("elapsedSeconds", elapsedNanos / 1e9);
    }
}
