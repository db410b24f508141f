package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.command.WarmUp;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A short run with the user's options, for the warm-up.
 *
 * @param tool the name of the tool
 * @param arguments the user's command line
 */
record PerftestWarmUp(String tool, MeasuredOperation operation, Measure measure, List<String> arguments)
        implements WarmUp.Round {
    private static final int ITERATIONS = 25;

    /** The minimum number of iterations from which a latency test can compute its figures. */
    private static final int MIN_ITERATIONS = 5;

    private static final int PACKET_BYTES = 4096;

    /** The maximum number of packets of the operations that a side has posted. More would take seconds. */
    private static final int POSTED_PACKETS = 4096;

    /** The maximum number of unreliable packets. They fit into a socket buffer, since a lost message costs seconds. */
    private static final int UNRELIABLE_PACKETS = 32;

    /** The size of the largest message. The two sides must not need much more memory than the tool. */
    private static final long LARGEST_BYTES = 1 << 20;

    private static final long LARGEST_OF_ALL_BYTES = 65_536;
    private static final int QUEUE_PAIRS = 16;

    @Override
    public boolean run(ToolEnvironment environment, InetSocketAddress address, boolean isServer, int work) {
        Settings settings = new Settings(operation, measure);
        try {
            new PerftestCommandLine(tool, settings, environment).read(arguments);
            shorten(settings, work);
            settings.server = isServer ? null : address.getHostString();
            settings.source = address.getHostString();
            settings.ipv6 = false;
            settings.port = address.getPort();
            settings.device = null;
            settings.devicePort = 1;
            settings.gidIndex = Settings.NONE;
            settings.completionVector = 0;
            new PerftestRun(settings, new Console(tool, environment), WarmUp.NONE).run();
            return true;
        } catch (ToolFailure e) {
            return false;
        }
    }

    private static void shorten(Settings settings, int work) {
        settings.sizeBytes = Math.min(settings.sizeBytes, settings.allSizes ? LARGEST_OF_ALL_BYTES : LARGEST_BYTES);
        settings.queuePairs = Math.min(settings.queuePairs, QUEUE_PAIRS);
        long packets = settings.queuePairs * (1 + settings.sizeBytes / PACKET_BYTES);
        boolean mayLose = settings.isBandwidth() && !settings.connection.isReliable();
        long most = Math.max(1, (mayLose ? UNRELIABLE_PACKETS : POSTED_PACKETS) / packets);
        settings.sendDepth = (int) Math.min(settings.sendDepth, most);
        settings.postList = Math.min(settings.postList, settings.sendDepth);
        settings.moderation = Math.min(settings.moderation, settings.sendDepth);
        if (settings.postList > 1 && settings.postList % settings.moderation != 0) {
            settings.moderation = settings.postList;
        }
        long iterations = mayLose
                ? most
                : Math.max(Math.max(settings.sendDepth, MIN_ITERATIONS), ITERATIONS * (long) work / packets);
        settings.iterations = (iterations + settings.postList - 1) / settings.postList * settings.postList;
        // A test of another size posts all receives again.
        settings.receiveDepth = (int) Math.min(settings.receiveDepth, settings.iterations);
        if (settings.sharedReceives) {
            settings.receiveDepth = Math.max(settings.receiveDepth, settings.queuePairs);
        }
        settings.receivePostList = 1;
        settings.timed = false;
        settings.infinite = false;
        settings.gapMicroseconds = Math.min(settings.gapMicroseconds, 1);
        settings.waitSeconds = 0;
        settings.minBandwidth = Settings.NONE;
        settings.minMessageRate = Settings.NONE;
    }
}
