package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run, with perftest's defaults, later updated with the values that both sides agree on. Not thread
 * safe.
 */
final class Settings {
    static final int DEFAULT_PORT = 18_515;
    static final long LARGEST_BYTES = 8 << 20;
    static final int ATOMIC_BYTES = 8;
    static final int DEFAULT_RECEIVE_DEPTH = 512;
    static final int NONE = -1;

    private static final int PAGE_BYTES = 4096;
    private static final int CACHE_LINE_BYTES = 64;

    /** The verbosity of a run. */
    enum Output {
        FULL,
        BANDWIDTH,
        MESSAGE_RATE,
        LATENCY
    }

    final MeasuredOperation operation;
    final Measure measure;

    /** The server's host, or null on the server. */
    @Nullable
    String server;

    int port = DEFAULT_PORT;

    @Nullable
    String device;

    int devicePort = 1;

    /** The path MTU in bytes, or 0 for the port's MTU. */
    int mtuBytes;

    /** The size of a message in bytes. With {@code -a} it is the largest one. */
    long sizeBytes;

    boolean isSizeSet;

    /** True to measure all powers of two. */
    boolean allSizes;

    /** The number of operations of each queue pair. */
    long iterations;

    int queuePairs = 1;
    int sendDepth;
    int receiveDepth;
    boolean isReceiveDepthSet;

    /** {@code --use-srq}, {@code -c XRC}: the queue pairs share one queue of {@link #receiveDepth} receives. */
    boolean sharedReceives;

    /** {@code --recv_post_list}: the number of receives to post with one call. */
    int receivePostList = 1;

    /** {@code --cqe_poll}: the maximum number of completions of one poll, or {@link #NONE} if not set. */
    int completionBatch = NONE;

    /** The size in bytes up to which messages are sent inline, or {@link #NONE} if not set. */
    int inlineBytes = NONE;

    /** {@code --send_with_imm}, {@code --write_with_imm}: each operation carries immediate data. */
    boolean immediate;

    ConnectionType connection = ConnectionType.RC;
    int moderation = 100;
    boolean isModerationSet;
    boolean events;

    /** The completion vector of all completion queues of the run. */
    int completionVector;

    boolean bidirectional;
    boolean noPeak;

    /** The maximum number of outstanding READs or atomics, or 0 for the device's maximum. */
    int outstanding;

    int postList = 1;
    int durationSeconds = 5;

    /** True if the run ends after a time, not after a number of operations. */
    boolean timed;

    /** Unmeasured seconds at both ends of a timed run, or {@link #NONE} for a quarter of its duration. */
    int marginSeconds = NONE;

    boolean infinite;
    int gidIndex = NONE;

    /** The type of service of the connection manager's queue pairs, or {@link #NONE}. */
    int typeOfService = NONE;

    int trafficClass;
    int serviceLevel;

    /** {@code --flow_label}: the flow labels, assigned to the queue pairs in turn; empty if all are 0. */
    List<Integer> flowLabels = List.of();

    int timeoutExponent = 14;
    int retryCount = 7;

    /** {@code -R}: the connection manager also connects the measured queue pairs. */
    boolean rdmaCm;

    /** {@code -z}: the control channel is a connection of the connection manager, not TCP. */
    boolean rdmaCmControl;

    boolean gigabits;
    boolean compareAndSwap;
    boolean histogram;
    boolean unsorted;
    boolean reportBoth;
    Output output = Output.FULL;
    boolean skipVersions;
    boolean ipv6;

    @Nullable
    String source;

    boolean regionPerQueuePair;
    boolean warmUp;
    float minBandwidth = NONE;
    float minMessageRate = NONE;
    int gapMicroseconds;
    int waitSeconds;

    /** The size in bytes of the buffer that small messages cycle through, the larger one of the two sides. */
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

    /** Returns whether this side posts operations. */
    boolean sends() {
        return isClient() || bidirectional || !isBandwidth();
    }

    /** Returns whether each operation consumes a receive of the peer. */
    boolean consumesReceives() {
        return operation == MeasuredOperation.SEND || immediate;
    }

    /** Returns whether this side receives messages. */
    boolean receives() {
        return consumesReceives() && (!isClient() || bidirectional || !isBandwidth());
    }

    /** Returns whether the queue pairs are initiators and targets of extended connections. */
    boolean isExtended() {
        return connection == ConnectionType.XRC;
    }

    /**
     * Returns whether this side has both initiators and targets of extended connections. If so, the first half of its
     * queue pairs are initiators, and the second half are targets.
     */
    boolean hasBothRoles() {
        return isExtended() && (bidirectional || !isBandwidth());
    }

    /** Returns whether this side has a shared receive queue. Targets of extended connections need one. */
    boolean hasSharedReceives() {
        return isExtended() || sharedReceives && receives();
    }

    /** Returns the number of receives that are posted for each queue pair. */
    int receivesPerQueuePair() {
        return hasSharedReceives() ? receiveDepth / queuePairs : receiveDepth;
    }

    /** Returns the flow label of the path of queue pair {@code index}. */
    int flowLabel(int index) {
        return flowLabels.isEmpty() ? 0 : flowLabels.get(index % flowLabels.size());
    }

    boolean isDatagram() {
        return connection == ConnectionType.UD;
    }

    /** Returns the size in bytes of the buffer for one direction of one queue pair. */
    long slotBytes() {
        long bytes = Math.max(sizeBytes, cycleBytes) + (isDatagram() ? cacheLineBytes : 0);
        return roundUp(bytes, cacheLineBytes);
    }

    /** Returns the distance in bytes between two small messages of a cycle. */
    long strideBytes(long size) {
        return roundUp(Math.max(1, size), cacheLineBytes);
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    void report(ToolReport report) {
        report.parameter("server", server)
                .parameter("port", port)
                .parameter("operation", operation.word())
                .parameter("immediate", immediate)
                .parameter("connection", connection.name())
                .parameter("rdmaCm", rdmaCm)
                .parameter("flowLabels", flowLabels)
                .parameter("sizeBytes", allSizes ? null : sizeBytes)
                .parameter("iterations", timed ? null : iterations)
                .parameter("durationSeconds", timed ? durationSeconds : null)
                .parameter("marginSeconds", timed ? marginSeconds : null)
                .parameter("queuePairs", queuePairs)
                .parameter("sendDepth", sendDepth)
                .parameter("receiveDepth", receiveDepth)
                .parameter("sharedReceives", sharedReceives)
                .parameter("receivePostList", receivePostList)
                .parameter("completionModeration", moderation)
                .parameter("postList", postList)
                .parameter("events", events)
                .parameter("completionVector", completionVector)
                .parameter("bidirectional", bidirectional);
    }
}
