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
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** One run of a ping-pong, from the device to the figures. */
final class Pingpong {
    /** What C's tool fills its buffer with. */
    private static final byte FILL = 0x7b;

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
                    () -> context.createCompletionQueue(Math.addExact(options.receiveDepth(), 1), null, channel));
            QueuePair queuePair = call("Couldn't create QP", () -> transport.create(domain, completions, options));
            call("Failed to modify QP to INIT", () -> transport.initialise(queuePair, options));
            PingpongLoop loop =
                    new PingpongLoop(tool, transport, queuePair, completions, channel, region, options, environment);
            loop.postReceives();
            if (options.events()) {
                call("Couldn't request CQ notification", () -> completions.requestNotification(false));
            }
            exchange(context, queuePair);
            prepareData(memory);
            loop.run();
            report(loop, memory);
        }
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
            return memory.fill(FILL);
        } catch (OutOfMemoryError e) {
            environment.err().println("Couldn't allocate work buf.");
            environment.err().println(tool + ": " + e.getMessage() + "; use a smaller -s");
            throw new PingpongFailure(1);
        }
    }

    // ---- the addresses ----

    private void exchange(DeviceContext context, QueuePair queuePair) throws PingpongFailure {
        Destination local = new Destination(
                0, queuePair.number(), ThreadLocalRandom.current().nextInt(1 << 24), localGid(context));
        environment.out().println("  local address:  " + transport.localText(local));
        SideChannel side = new SideChannel(tool, options.tcpPort(), environment);
        String server = options.server();
        Destination remote;
        if (server == null) {
            remote = side.exchangeAsServer(local, peer -> connectAsServer(queuePair, local, peer));
        } else {
            remote = side.exchangeAsClient(server, local);
        }
        environment.out().println("  remote address: " + remote);
        if (server != null) {
            connect(queuePair, local, remote);
        }
        environment.report().result("localAddress", local.toString()).result("remoteAddress", remote.toString());
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

    private void connectAsServer(QueuePair queuePair, Destination local, Destination remote) throws PingpongFailure {
        try {
            connect(queuePair, local, remote);
        } catch (PingpongFailure e) {
            environment.err().println("Couldn't connect to remote QP");
            throw e;
        }
    }

    private void connect(QueuePair queuePair, Destination local, Destination remote) throws PingpongFailure {
        boolean hasGids = gidIndex >= 0 && !remote.gid().equals(Gid.ZERO);
        for (PingpongTransport.Step step : transport.connect(queuePair, options, gidIndex, local, remote)) {
            if (step.needsGid() && !hasGids) {
                environment.err().println(step.failure());
                environment
                        .err()
                        .println(tool + ": RoCE needs a GID on both sides: use -g INDEX here and there;"
                                + " ibv_devinfo -v lists the GIDs");
                throw new PingpongFailure(1);
            }
            call(step.failure(), step.action());
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

    private PingpongFailure failure(String line) {
        environment.err().println(line);
        return new PingpongFailure(1);
    }
}
