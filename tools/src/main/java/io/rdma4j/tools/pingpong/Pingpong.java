package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.GidText;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceChoice;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** One run of a ping-pong, from the device to the figures. */
final class Pingpong {
    /** C's tool writes and looks at the first byte of each page. */
    private static final int PAGE_BYTES = 4096;

    private final String tool;
    private final PingpongTransport transport;
    private final PingpongOptions options;
    private final ToolEnvironment environment;
    private int gidIndex;

    /** A call of the verbs. */
    private interface Call<T> {
        T run();
    }

    Pingpong(String tool, PingpongTransport transport, PingpongOptions options, ToolEnvironment environment) {
        this.tool = tool;
        this.transport = transport;
        this.options = options;
        this.environment = environment;
        this.gidIndex = options.gidIndex();
    }

    /**
     * Runs to the end.
     *
     * @throws PingpongFailure if something fails; the reason has been printed
     */
    void run() throws PingpongFailure {
        Device device = device();
        try (Arena arena = Arena.ofShared();
                DeviceContext context = call("Couldn't get context for " + device.name(), device::open)) {
            refuseWhatTheDeviceCannot(context);
            MemorySegment memory = allocate(arena);
            CompletionChannel channel = options.events()
                    ? call("Couldn't create completion channel", context::createCompletionChannel)
                    : null;
            ProtectionDomain domain = call("Couldn't allocate PD", context::createProtectionDomain);
            MemoryRegion region = call("Couldn't register MR", () -> domain.register(memory, AccessFlag.LOCAL_WRITE));
            CompletionQueue completions = call(
                    "Couldn't create CQ",
                    () -> context.createCompletionQueue(
                            Math.addExact(options.receiveDepth(), options.queuePairs()), null, channel));
            List<QueuePair> queuePairs = createQueuePairs(domain, completions);
            PingpongLoop loop =
                    new PingpongLoop(tool, transport, queuePairs, completions, channel, region, options, environment);
            loop.postReceives();
            if (options.events()) {
                call("Couldn't request CQ notification", () -> completions.requestNotification(false));
            }
            exchange(context, queuePairs);
            prepareData(memory);
            loop.run();
            report(loop, memory);
        }
    }

    private List<QueuePair> createQueuePairs(ProtectionDomain domain, CompletionQueue completions)
            throws PingpongFailure {
        for (PingpongTransport.Step step : transport.prepare(domain, options)) {
            call(step.failure(), step.action());
        }
        List<QueuePair> queuePairs = new ArrayList<>();
        for (int i = 0; i < options.queuePairs(); i++) {
            String line = "Couldn't create " + transport.label(i);
            queuePairs.add(call(line, () -> transport.create(domain, completions, options)));
        }
        for (int i = 0; i < queuePairs.size(); i++) {
            QueuePair queuePair = queuePairs.get(i);
            String line = "Failed to modify " + transport.label(i) + " to INIT";
            call(line, () -> transport.initialise(queuePair, options));
        }
        return queuePairs;
    }

    private Device device() throws PingpongFailure {
        List<Device> devices = Device.chosen();
        if (options.device() == null) {
            if (devices.isEmpty()) {
                throw failure("No IB devices found");
            }
            return devices.getFirst();
        }
        for (Device device : devices) {
            if (device.name().equals(options.device())) {
                return device;
            }
        }
        throw failure("IB device " + options.device() + " not found");
    }

    /** Options for devices that a software device is not. The lines are those of C's tool with such a device. */
    private void refuseWhatTheDeviceCannot(DeviceContext context) throws PingpongFailure {
        String refusal = transport.refusal(context, options);
        if (refusal != null) {
            throw failure(refusal);
        }
        if (options.onDemand()) {
            throw failure("The device isn't ODP capable or does not support RC send and receive with ODP");
        }
        if (options.timestamps()) {
            throw failure("The device isn't completion timestamp capable");
        }
        if (options.deviceMemory()) {
            throw failure("Device doesn't support dm allocation");
        }
    }

    private MemorySegment allocate(Arena arena) throws PingpongFailure {
        long bytes = transport.headerBytes() + options.sizeBytes();
        try {
            MemorySegment memory =
                    arena.allocate(Math.max(1, bytes), PAGE_BYTES).asSlice(0, bytes);
            return memory.fill(transport.fill());
        } catch (OutOfMemoryError e) {
            environment.err().println("Couldn't allocate work buf.");
            environment.err().println(tool + ": " + e.getMessage() + "; use a smaller -s");
            throw new PingpongFailure(1);
        }
    }

    // ---- the addresses ----

    private void exchange(DeviceContext context, List<QueuePair> queuePairs) throws PingpongFailure {
        List<Destination> local = new ArrayList<>();
        Gid gid = localGid(context);
        for (QueuePair queuePair : queuePairs) {
            int psn = ThreadLocalRandom.current().nextInt(1 << 24);
            local.add(new Destination(0, queuePair.number(), psn, gid));
            environment.out().println("  local address:  " + transport.localText(local.getLast()));
        }
        List<Destination> told = new ArrayList<>(local);
        while (told.size() < transport.addresses()) {
            told.add(new Destination(0, 0, 0, Gid.ZERO));
        }
        SideChannel side = new SideChannel(tool, options.tcpPort(), environment);
        String server = options.server();
        List<Destination> remote = server == null
                ? side.exchangeAsServer(told, peer -> connectAsServer(queuePairs, local, peer))
                : side.exchangeAsClient(server, told);
        List<Destination> used = remote.subList(0, local.size());
        used.forEach(each -> environment.out().println("  remote address: " + each));
        if (server != null) {
            connect(queuePairs, local, remote);
        }
        reportAddresses("localAddress", local);
        reportAddresses("remoteAddress", used);
    }

    private void reportAddresses(String name, List<Destination> addresses) {
        List<String> texts = addresses.stream().map(Destination::toString).toList();
        if (transport.addresses() == 1) {
            environment.report().result(name, texts.getFirst());
        } else {
            environment.report().result(name + "es", texts);
        }
    }

    /** The GID of {@code -g}; else that of {@code --device} if it is an address; else zero, as in C. */
    private Gid localGid(DeviceContext context) throws PingpongFailure {
        List<Gid> gids = call("Couldn't get port info", () -> context.gids(options.port()));
        if (gidIndex < 0) {
            gidIndex = DeviceChoice.current()
                    .address()
                    .map(address -> gids.indexOf(Gid.of(address)))
                    .orElse(-1);
            return gidIndex < 0 ? Gid.ZERO : gids.get(gidIndex);
        }
        if (gidIndex >= gids.size() || gids.get(gidIndex).equals(Gid.ZERO)) {
            environment.err().println(transport.missingGid(gidIndex));
            environment.err().println(tool + ": " + context.device().name() + " has " + table(gids));
            throw new PingpongFailure(1);
        }
        return gids.get(gidIndex);
    }

    private static String table(List<Gid> gids) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).equals(Gid.ZERO)) {
                text.append(text.isEmpty() ? "" : ", ").append(i).append(" = ").append(GidText.of(gids.get(i)));
            }
        }
        return text.isEmpty() ? "no GID" : "GIDs " + text;
    }

    private void connectAsServer(List<QueuePair> queuePairs, List<Destination> local, List<Destination> remote)
            throws PingpongFailure {
        try {
            connect(queuePairs, local, remote);
        } catch (PingpongFailure e) {
            environment.err().println("Couldn't connect to remote QP");
            throw e;
        }
    }

    private void connect(List<QueuePair> queuePairs, List<Destination> local, List<Destination> remote)
            throws PingpongFailure {
        for (int i = 0; i < queuePairs.size(); i++) {
            Destination to = remote.get(i);
            boolean hasGids = gidIndex >= 0 && !to.gid().equals(Gid.ZERO);
            for (PingpongTransport.Step step :
                    transport.connect(queuePairs.get(i), options, gidIndex, local.get(i), to)) {
                if (to.queuePair() == 0) {
                    throw failure(
                            step.failure(), "the peer has " + i + " queue pairs only; use the same -q on both sides");
                }
                if (step.needsGid() && !hasGids) {
                    throw failure(
                            step.failure(),
                            "RoCE needs a GID on both sides: use -g INDEX here and there; ibv_devinfo -v lists the"
                                    + " GIDs");
                }
                call(step.failure(), step.action());
            }
        }
    }

    // ---- the data and the figures ----

    private void prepareData(MemorySegment memory) {
        if (options.isClient() && options.validate()) {
            for (long page = transport.headerBytes(); page < memory.byteSize(); page += PAGE_BYTES) {
                memory.set(ValueLayout.JAVA_BYTE, page, (byte) 0);
            }
        }
    }

    private void report(PingpongLoop loop, MemorySegment memory) throws PingpongFailure {
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
        if (!options.isClient() && options.validate()) {
            long invalid = 0;
            for (long page = transport.headerBytes(); page < memory.byteSize(); page += PAGE_BYTES) {
                if (memory.get(ValueLayout.JAVA_BYTE, page) != 0) {
                    environment.out().println("invalid data in page " + page / PAGE_BYTES);
                    invalid++;
                }
            }
            environment.report().result("invalidPages", invalid);
        }
    }

    /** As {@code %.2f}. */
    static String fixed(double value) {
        if (Double.isNaN(value)) {
            return "-nan";
        }
        return Double.isInfinite(value) ? "inf" : "%.2f".formatted(value);
    }

    // ---- calls ----

    private void call(String line, Runnable call) throws PingpongFailure {
        this.<@Nullable Void>call(line, () -> {
            call.run();
            return null;
        });
    }

    private <T extends @Nullable Object> T call(String line, Call<T> call) throws PingpongFailure {
        try {
            return call.run();
        } catch (RdmaException | ArithmeticException e) {
            environment.err().println(line);
            environment.err().println(tool + ": " + e.getMessage());
            throw new PingpongFailure(1);
        }
    }

    private PingpongFailure failure(String line, String explanation) {
        environment.err().println(line);
        environment.err().println(tool + ": " + explanation);
        return new PingpongFailure(1);
    }

    private PingpongFailure failure(String line) {
        environment.err().println(line);
        return new PingpongFailure(1);
    }
}
