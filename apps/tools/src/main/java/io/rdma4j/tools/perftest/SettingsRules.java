package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;

/** Perftest's rules on combinations of options, in its order and with its messages. */
final class SettingsRules {
    /** The size above which each message has its own completion, since moderation would distort the figures. */
    private static final int LARGEST_MODERATED_BYTES = 8192;

    private static final int MAX_DATAGRAM_RECEIVES = 16_000;
    /** The minimum depth of a shared receive queue of UC and UD queue pairs. */
    private static final int MIN_SHARED_RECEIVES = 100;

    private static final int MAX_PEAK_ITERATIONS = 20_000;

    private final Settings settings;
    private final ToolEnvironment environment;

    SettingsRules(Settings settings, ToolEnvironment environment) {
        this.settings = settings;
        this.environment = environment;
    }

    void apply() throws ToolFailure {
        limitDepths();
        chooseModeration();
        if (settings.operation == MeasuredOperation.ATOMIC
                && (settings.allSizes || settings.sizeBytes != Settings.ATOMIC_BYTES)) {
            throw rejectOnOut("Message size cannot be changed for Atomic tests ");
        }
        if (settings.allSizes) {
            settings.sizeBytes = Settings.LARGEST_BYTES;
        }
        checkSharedReceives();
        checkPostList();
        checkReceivePostList();
        checkTime();
        checkConnection();
        checkForever();
        checkOutput();
        chooseRest();
    }

    private void limitDepths() {
        if (settings.timed) {
            return;
        }
        settings.sendDepth = (int) Math.min(settings.sendDepth, settings.iterations);
        if (settings.consumesReceives()) {
            settings.receiveDepth = (int) Math.min(settings.receiveDepth, settings.iterations);
        }
        if (!settings.connection.isReliable()
                && settings.sharedReceives
                && settings.iterations <= MIN_SHARED_RECEIVES) {
            settings.receiveDepth = MIN_SHARED_RECEIVES;
        }
        if (!settings.connection.isReliable() && settings.receiveDepth == Settings.DEFAULT_RECEIVE_DEPTH) {
            settings.receiveDepth = (int) Math.min(settings.iterations, MAX_DATAGRAM_RECEIVES);
        }
    }

    private void chooseModeration() {
        if (settings.sizeBytes > LARGEST_MODERATED_BYTES
                && !settings.isDatagram()
                && !settings.allSizes
                && !settings.events) {
            if (!settings.isModerationSet) {
                settings.moderation = 1;
            } else if (settings.moderation > 1) {
                line();
                environment.out().println("Warning: Large message requested and CQ moderation enabled");
                environment.out().println("Warning: It can lead to inaccurate results");
            }
        }
        settings.moderation = Math.min(settings.moderation, settings.sendDepth);
    }

    private void checkPostList() throws ToolFailure {
        if (settings.postList <= 1) {
            return;
        }
        if (!settings.isBandwidth()) {
            throw rejectOnErr("Post list is supported in BW tests only");
        }
        if (!settings.timed && settings.iterations % settings.postList != 0) {
            throw rejectOnErr("Number of iterations must be a multiple of post list size");
        }
        if (!settings.isModerationSet) {
            settings.moderation = settings.postList;
            line();
            environment.out().println("Post List requested - CQ moderation will be the size of the post list");
        } else if (settings.postList % settings.moderation != 0) {
            throw rejectOnErr("Post list size must be a multiple of CQ moderation");
        }
        if (settings.postList > settings.sendDepth) {
            throw rejectOnErr("Post list size must not be above the tx depth of " + settings.sendDepth);
        }
    }

    private void checkSharedReceives() throws ToolFailure {
        if (settings.sharedReceives && settings.operation != MeasuredOperation.SEND) {
            throw rejectOnOut(" Using SRQ only avavilible in SEND / SEND_IMM tests.");
        }
        if (settings.isExtended()) {
            if (settings.rdmaCm) {
                throw rejectOnErr(" XRC does not support RDMA_CM");
            }
            settings.sharedReceives = true;
        }
        if (settings.hasBothRoles()) {
            settings.queuePairs *= 2;
        }
        if (settings.sharedReceives && settings.consumesReceives() && settings.queuePairs > settings.receiveDepth) {
            throw rejectOnOut(" Using SRQ depth should be greater than number of QPs.");
        }
    }

    private void checkReceivePostList() throws ToolFailure {
        if (settings.receivePostList <= 1) {
            return;
        }
        if (!settings.isBandwidth()) {
            throw rejectOnErr("Receive post list is supported in BW tests only");
        }
        if (!settings.timed && settings.iterations % settings.receivePostList != 0) {
            throw rejectOnErr("Number of iterations must be a multiple of receive post list size");
        }
        if (settings.receives() && settings.receivePostList > settings.receivesPerQueuePair()) {
            throw rejectOnErr("Receive post list size must not be above the rx depth of each queue pair, "
                    + settings.receivesPerQueuePair());
        }
    }

    private void checkTime() throws ToolFailure {
        if (settings.timed) {
            settings.noPeak = true;
            if (settings.events) {
                throw rejectOnErr("Duration mode doesn't work with events.");
            }
            if (settings.allSizes) {
                throw rejectOnErr("Duration mode currently doesn't support running on all sizes.");
            }
            if (settings.marginSeconds == Settings.NONE) {
                settings.marginSeconds = settings.durationSeconds / 4;
            }
        }
        if (settings.durationSeconds <= 2 * settings.marginSeconds) {
            throw rejectOnErr("please check that DURATION > 2*MARGIN");
        }
    }

    private void checkConnection() throws ToolFailure {
        if (settings.rdmaCm) {
            if (settings.connection == ConnectionType.UC) {
                throw rejectOnOut(" UC is not supported in librdmacm");
            }
            settings.rdmaCmControl = true;
        } else if (settings.typeOfService != Settings.NONE) {
            environment.out().println(" TOS only valid for rdma_cm based QP and RawEth QP ");
            throw new ToolFailure(1);
        }
    }

    private void checkForever() throws ToolFailure {
        if (!settings.infinite) {
            return;
        }
        settings.noPeak = true;
        settings.timed = true;
        if (settings.events) {
            throw rejectOnErr(" run_infinitely does not support events feature yet.");
        }
        if (!settings.isBandwidth()) {
            throw rejectOnErr(" run_infinitely exists only in BW tests for now.");
        }
        if (settings.bidirectional && settings.consumesReceives()) {
            throw rejectOnErr(" run_infinitely mode is not supported in SEND Bidirectional BW test");
        }
    }

    private void checkOutput() throws ToolFailure {
        if (settings.output == Settings.Output.FULL) {
            return;
        }
        if (settings.isBandwidth() == (settings.output == Settings.Output.LATENCY)) {
            throw rejectOnErr(
                    settings.isBandwidth()
                            ? " Output verbosity level for BW can be: bandwidth, message_rate"
                            : " Output verbosity level for LAT can be: latency");
        }
    }

    private void chooseRest() throws ToolFailure {
        boolean isReceiver = settings.isBandwidth() && !settings.isClient() && !settings.bidirectional;
        if (settings.consumesReceives()) {
            if (isReceiver) {
                settings.noPeak = true;
            }
            if (settings.receiveDepth % 2 == 1 && !settings.allSizes) {
                settings.receiveDepth++;
            }
        }
        if (settings.gapMicroseconds > 0 && settings.isBandwidth()) {
            throw rejectOnErr(" Latency gap feature is only for latency tests");
        }
        if (!settings.timed && settings.iterations > MAX_PEAK_ITERATIONS) {
            settings.noPeak = true;
        }
    }

    private void line() {
        environment.out().println(PerftestTable.LINE);
    }

    /** Prints a ruler and the reason on standard output. */
    private ToolFailure rejectOnOut(String reason) {
        line();
        environment.out().println(reason);
        return new ToolFailure(1);
    }

    /** Prints a ruler on standard output and the reason on standard error. */
    private ToolFailure rejectOnErr(String reason) {
        line();
        environment.err().println(reason);
        return new ToolFailure(1);
    }
}
