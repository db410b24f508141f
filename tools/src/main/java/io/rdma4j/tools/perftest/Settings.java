package io.rdma4j.tools.perftest;

import io.rdma4j.tools.ToolReport;
import org.jspecify.annotations.Nullable;

/**
 * What a run is to do: the options, with perftest's defaults, and later what both sides have agreed on. Not thread safe.
 */
final class Settings {
    static final int DEFAULT_PORT = 18_515;
    static final long LARGEST_BYTES = 8 << 20;
    static final int ATOMIC_BYTES = 8;
    static final int DEFAULT_RECEIVE_DEPTH = 512;
    static final int NONE = -1;

    private static final int PAGE_BYTES = 4096;
    private static final int CACHE_LINE_BYTES = 64;

    /** How much a run prints. */
    enum Output {
        FULL,
        BANDWIDTH,
        MESSAGE_RATE,
        LATENCY
    }

    final MeasuredOperation operation;
    final Measure measure;

    /** Host of the server; null for the server itself. */
    @Nullable
    String server;

    int port = DEFAULT_PORT;

    @Nullable
    String device;

    int devicePort = 1;

    /** Bytes of the largest packet's data; 0 for what the port carries. */
    int mtuBytes;

    /** Bytes of a message; with {@code -a} those of the largest. */
    long sizeBytes;

    boolean isSizeAsked;

    /** Whether to go through all powers of two. */
    boolean allSizes;

    /** Operations of each queue pair. */
    long iterations;

    int queuePairs = 1;
    int sendDepth;
    int receiveDepth;

    /** Most bytes that go inline; {@link #NONE} if not asked for. */
    int inlineBytes = NONE;

    Connection connection = Connection.RC;
    int moderation = 100;
    boolean isModerationAsked;
    boolean events;

    /** Completion vector of all completion queues of the run. */
    int completionVector;

    boolean bothWays;
    boolean noPeak;

    /** READs or atomics under way; 0 for as many as the device can. */
    int outstanding;

    int postList = 1;
    int durationSeconds = 5;

    /** Whether time ends the run, not a count. */
    boolean timed;

    /** Seconds at both ends of a timed run that are not measured; {@link #NONE} for a quarter of it. */
    int marginSeconds = NONE;

    boolean forever;
    int gidIndex = NONE;

    /** Type of service of the connection manager's queue pairs, or {@link #NONE}. */
    int typeOfService = NONE;

    int trafficClass;
    int timeoutExponent = 14;
    int retryCount = 7;

    /** {@code -R}: the queue pairs that are measured are made by the connection manager, too. */
    boolean managed;

    /** {@code -z}: the two sides talk over a connection of the connection manager, not over TCP. */
    boolean managedTalk;

    boolean gigabits;
    boolean compareAndSwap;
    boolean histogram;
    boolean unsorted;
    boolean reportBoth;
    Output output = Output.FULL;
    boolean silentVersions;
    boolean ipv6;

    @Nullable
    String source;

    boolean regionPerQueuePair;
    boolean warmUp;
    float leastBandwidth = NONE;
    float leastMessageRate = NONE;
    int gapMicroseconds;
    int waitSeconds;

    /** Bytes over which small messages go round; the larger of what the two sides say. */
    int cycleBytes = PAGE_BYTES;

    int cacheLineBytes = CACHE_LINE_BYTES;

    Settings(MeasuredOperation operation, Measure measure) {
        this.operation = operation;
        this.measure = measure;
        boolean isBandwidth = measure == Measure.BANDWIDTH;
        sizeBytes = isBandwidth ? 65_536 : 2;
        if (operation == MeasuredOperation.ATOMIC) {
            sizeBytes = ATOMIC_BYTES;
        }
        iterations = isBandwidth && operation == MeasuredOperation.WRITE ? 5000 : 1000;
        sendDepth = isBandwidth ? 128 : 1;
        receiveDepth = operation == MeasuredOperation.SEND ? DEFAULT_RECEIVE_DEPTH : 1;
    }

    boolean isClient() {
        return server != null;
    }

    boolean isBandwidth() {
        return measure == Measure.BANDWIDTH;
    }

    /** Whether this side posts operations. */
    boolean sends() {
        return isClient() || bothWays || !isBandwidth();
    }

    /** Whether this side takes messages. */
    boolean receives() {
        return operation == MeasuredOperation.SEND && (!isClient() || bothWays || !isBandwidth());
    }

    boolean isDatagram() {
        return connection == Connection.UD;
    }

    /** Bytes of the buffer of one direction of one queue pair. */
    long slotBytes() {
        long bytes = Math.max(sizeBytes, cycleBytes) + (isDatagram() ? cacheLineBytes : 0);
        return roundUp(bytes, cacheLineBytes);
    }

    /** From one small message of a cycle to the next. */
    long strideBytes(long size) {
        return roundUp(Math.max(1, size), cacheLineBytes);
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    void tell(ToolReport report) {
        report.parameter("server", server)
                .parameter("port", port)
                .parameter("operation", operation.word())
                .parameter("connection", connection.name())
                .parameter("rdmaCm", managed)
                .parameter("sizeBytes", allSizes ? null : sizeBytes)
                .parameter("iterations", timed ? null : iterations)
                .parameter("durationSeconds", timed ? durationSeconds : null)
                .parameter("marginSeconds", timed ? marginSeconds : null)
                .parameter("queuePairs", queuePairs)
                .parameter("sendDepth", sendDepth)
                .parameter("receiveDepth", receiveDepth)
                .parameter("completionModeration", moderation)
                .parameter("postList", postList)
                .parameter("events", events)
                .parameter("completionVector", completionVector)
                .parameter("bidirectional", bothWays);
    }
}
