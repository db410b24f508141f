package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** A run of a ping-pong, from opening the device to printing the figures. */
final class Pingpong {
    private final PingpongTransport transport;
    private final PingpongOptions options;
    private final ToolEnvironment environment;
    private final PingpongCalls calls;
    private int gidIndex;

    Pingpong(String tool, PingpongTransport transport, PingpongOptions options, ToolEnvironment environment) {
        this.transport = transport;
        this.options = options;
        this.environment = environment;
        this.calls = new PingpongCalls(tool, environment);
    }

    /**
     * Runs the ping-pong.
     *
     * @throws ToolFailure if something fails; the reason has been printed
     */
    void run() throws ToolFailure {
        Device device = device();
        try (Arena arena = Arena.ofShared();
                DeviceContext context = calls.call("Couldn't get context for " + device.name(), device::open)) {
            checkDevice(context);
            MemorySegment memory = calls.allocate(arena, transport.headerBytes() + options.sizeBytes())
                    .fill(transport.fill());
            CompletionChannel channel = options.events()
                    ? calls.call("Couldn't create completion channel", context::createCompletionChannel)
                    : null;
            ProtectionDomain domain = calls.call("Couldn't allocate PD", context::createProtectionDomain);
            MemoryRegion region = calls.call("Couldn't register MR", () -> domain.register(memory, options.access()));
            CompletionQueue completions = calls.call(
                    "Couldn't create CQ",
                    () -> context.createCompletionQueue(CompletionQueueInitAttributes.of(
                                    Math.addExact(options.receiveDepth(), options.queuePairs()))
                            .withChannel(channel)
                            .withDeviceClock(options.timestamps())));
            List<QueuePair> queuePairs = createQueuePairs(domain, completions);
            PingpongLoop loop = new PingpongLoop(calls, transport, queuePairs, completions, channel, region, options);
            loop.postReceives();
            if (options.events()) {
                calls.step("Couldn't request CQ notification", () -> completions.requestNotification(false));
            }
            exchange(context, queuePairs);
            prepareData(memory);
            loop.run();
            report(loop, memory);
        }
    }

    private List<QueuePair> createQueuePairs(ProtectionDomain domain, CompletionQueue completions) throws ToolFailure {
        for (PingpongTransport.Step step : transport.prepare(domain, options)) {
            calls.step(step.failure(), step.action());
        }
        List<QueuePair> queuePairs = new ArrayList<>();
        for (int i = 0; i < options.queuePairs(); i++) {
            String line = "Couldn't create " + transport.label(i);
            queuePairs.add(calls.call(line, () -> transport.create(domain, completions, options)));
        }
        for (int i = 0; i < queuePairs.size(); i++) {
            QueuePair queuePair = queuePairs.get(i);
            String line = "Failed to modify " + transport.label(i) + " to INIT";
            calls.step(line, () -> transport.initialise(queuePair, options));
        }
        return queuePairs;
    }

    private Device device() throws ToolFailure {
        String name = options.device();
        return find(name)
                .orElseThrow(
                        () -> calls.failure(name == null ? "No IB devices found" : "IB device " + name + " not found"));
    }

    /** Finds the device with the given name, or the first one if the name is null. */
    static Optional<Device> find(@Nullable String name) {
        return Device.chosen().stream()
                .filter(device -> name == null || device.name().equals(name))
                .findFirst();
    }

    /** Rejects options that the device does not support, with the lines that C's tool prints for such a device. */
    private void checkDevice(DeviceContext context) throws ToolFailure {
        String refusal = transport.refusal(context, options);
        if (refusal != null) {
            throw calls.failure(refusal);
        }
        if (options.implicitOnDemand()) {
            throw calls.failure("The device doesn't support implicit ODP");
        }
        if (options.deviceMemory()) {
            throw calls.failure("Device doesn't support dm allocation");
        }
    }

    // ---- addresses

    private void exchange(DeviceContext context, List<QueuePair> queuePairs) throws ToolFailure {
        List<PingPongDestination> local = new ArrayList<>();
        int index = options.gidIndex();
        LocalGid localGid = LocalGid.of(calls, context, options.port(), index, transport.missingGid(index));
        Gid gid = localGid.gid();
        gidIndex = localGid.index();
        for (QueuePair queuePair : queuePairs) {
            int psn = ThreadLocalRandom.current().nextInt(1 << 24);
            local.add(new PingPongDestination(0, queuePair.number(), psn, gid));
            environment.out().println("  local address:  " + transport.localText(local.getLast()));
        }
        List<PingPongDestination> offered = new ArrayList<>(local);
        while (offered.size() < transport.addresses()) {
            offered.add(new PingPongDestination(0, 0, 0, Gid.ZERO));
        }
        SideChannel side = new SideChannel(calls, options.tcpPort());
        String server = options.server();
        List<PingPongDestination> remote = server == null
                ? side.exchangeAsServer(offered, peer -> connectAsServer(queuePairs, local, peer))
                : side.exchangeAsClient(server, offered);
        List<PingPongDestination> used = remote.subList(0, local.size());
        used.forEach(each -> environment.out().println("  remote address: " + each));
        if (server != null) {
            connect(queuePairs, local, remote);
        }
        reportAddresses("localAddress", local);
        reportAddresses("remoteAddress", used);
    }

    private void reportAddresses(String name, List<PingPongDestination> addresses) {
        List<String> texts =
                addresses.stream().map(PingPongDestination::toString).toList();
        if (transport.addresses() == 1) {
            environment.report().result(name, texts.getFirst());
        } else {
            environment.report().result(name + "es", texts);
        }
    }

    private void connectAsServer(
            List<QueuePair> queuePairs, List<PingPongDestination> local, List<PingPongDestination> remote)
            throws ToolFailure {
        try {
            connect(queuePairs, local, remote);
        } catch (ToolFailure e) {
            environment.err().println("Couldn't connect to remote QP");
            throw e;
        }
    }

    private void connect(List<QueuePair> queuePairs, List<PingPongDestination> local, List<PingPongDestination> remote)
            throws ToolFailure {
        for (int i = 0; i < queuePairs.size(); i++) {
            PingPongDestination to = remote.get(i);
            boolean hasGids = gidIndex >= 0 && !to.gid().equals(Gid.ZERO);
            for (PingpongTransport.Step step :
                    transport.connect(queuePairs.get(i), options, gidIndex, local.get(i), to)) {
                if (to.queuePair() == 0) {
                    throw calls.failure(
                            step.failure(), "the peer has only " + i + " queue pairs; use the same -q on both sides");
                }
                if (step.needsGid() && !hasGids) {
                    throw calls.failure(step.failure(), LocalGid.HINT);
                }
                calls.step(step.failure(), step.action());
            }
        }
    }

    // ---- data and figures

    private void prepareData(MemorySegment memory) {
        if (options.isClient() && options.validate()) {
            for (long page = transport.headerBytes(); page < memory.byteSize(); page += PingpongCalls.PAGE_BYTES) {
                memory.set(ValueLayout.JAVA_BYTE, page, (byte) 0);
            }
        }
    }

    private void report(PingpongLoop loop, MemorySegment memory) throws ToolFailure {
        double microseconds = loop.elapsedNanos() / 1e3;
        double seconds = microseconds / 1e6;
        long bytes = options.sizeBytes() * options.exchanges() * 2;
        environment
                .out()
                .println(bytes + " bytes in " + fixed(seconds) + " seconds = " + fixed(bytes * 8 / microseconds)
                        + " Mbit/sec");
        environment
                .out()
                .println(options.exchanges() + " iters in " + fixed(seconds) + " seconds = "
                        + fixed(microseconds / options.exchanges()) + " usec/iter");
        environment
                .report()
                .result("bytes", bytes)
                .result("exchanges", options.exchanges())
                .result("elapsedSeconds", seconds)
                .result("megabitsPerSecond", bytes * 8 / microseconds)
                .result("microsecondsPerExchange", microseconds / options.exchanges());
        loop.intervals().ifPresent(intervals -> intervals.report(environment));
        if (!options.isClient() && options.validate()) {
            long invalid = 0;
            for (long page = transport.headerBytes(); page < memory.byteSize(); page += PingpongCalls.PAGE_BYTES) {
                if (memory.get(ValueLayout.JAVA_BYTE, page) != 0) {
                    environment.out().println("invalid data in page " + page / PingpongCalls.PAGE_BYTES);
                    invalid++;
                }
            }
            environment.report().result("invalidPages", invalid);
        }
    }

    /** Formats a number like C's {@code %.2f}. */
    static String fixed(double value) {
        if (Double.isNaN(value)) {
            return "-nan";
        }
        return Double.isInfinite(value) ? "inf" : String.format(Locale.ROOT, "%.2f", value);
    }
}
