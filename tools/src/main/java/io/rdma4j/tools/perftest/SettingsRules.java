package io.rdma4j.tools.perftest;

import io.rdma4j.tools.ToolEnvironment;

/** What options make of each other, in perftest's order and with its messages. */
final class SettingsRules {
    /** Larger messages are reported one by one, or the figures would be off. */
    private static final int LARGEST_MODERATED_BYTES = 8192;

    private static final int MOST_DATAGRAM_RECEIVES = 16_000;
    private static final int MOST_PEAK_ITERATIONS = 20_000;

    private final Settings settings;
    private final ToolEnvironment environment;

    SettingsRules(Settings settings, ToolEnvironment environment) {
        this.settings = settings;
        this.environment = environment;
    }

    void apply() throws PerftestFailure {
        limitDepths();
        chooseModeration();
        if (settings.operation == MeasuredOperation.ATOMIC
                && (settings.allSizes || settings.sizeBytes != Settings.ATOMIC_BYTES)) {
            throw refusal("Message size cannot be changed for Atomic tests ");
        }
        if (settings.allSizes) {
            settings.sizeBytes = Settings.LARGEST_BYTES;
        }
        checkPostList();
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
        if (settings.operation == MeasuredOperation.SEND) {
            settings.receiveDepth = (int) Math.min(settings.receiveDepth, settings.iterations);
        }
        if (settings.connection != Connection.RC && settings.receiveDepth == Settings.DEFAULT_RECEIVE_DEPTH) {
            settings.receiveDepth = (int) Math.min(settings.iterations, MOST_DATAGRAM_RECEIVES);
        }
    }

    private void chooseModeration() {
        if (settings.sizeBytes > LARGEST_MODERATED_BYTES
                && !settings.isDatagram()
                && !settings.allSizes
                && !settings.events) {
            if (!settings.isModerationAsked) {
                settings.moderation = 1;
            } else if (settings.moderation > 1) {
                line();
                environment.out().println("Warning: Large message requested and CQ moderation enabled");
                environment.out().println("Warning: It can lead to inaccurate results");
            }
        }
        settings.moderation = Math.min(settings.moderation, settings.sendDepth);
    }

    private void checkPostList() throws PerftestFailure {
        if (settings.postList <= 1) {
            return;
        }
        if (!settings.isBandwidth()) {
            throw explained("Post list is supported in BW tests only");
        }
        if (!settings.timed && settings.iterations % settings.postList != 0) {
            throw explained("Number of iterations must be a multiple of post list size");
        }
        if (!settings.isModerationAsked) {
            settings.moderation = settings.postList;
            line();
            environment.out().println("Post List requested - CQ moderation will be the size of the post list");
        } else if (settings.postList % settings.moderation != 0) {
            throw explained("Post list size must be a multiple of CQ moderation");
        }
        if (settings.postList > settings.sendDepth) {
            throw explained("Post list size must not be above the tx depth of " + settings.sendDepth);
        }
    }

    private void checkTime() throws PerftestFailure {
        if (settings.timed) {
            settings.noPeak = true;
            if (settings.events) {
                throw explained("Duration mode doesn't work with events.");
            }
            if (settings.allSizes) {
                throw explained("Duration mode currently doesn't support running on all sizes.");
            }
            if (settings.marginSeconds == Settings.NONE) {
                settings.marginSeconds = settings.durationSeconds / 4;
            }
        }
        if (settings.durationSeconds <= 2 * settings.marginSeconds) {
            throw explained("please check that DURATION > 2*MARGIN");
        }
    }

    private void checkConnection() throws PerftestFailure {
        if (settings.managed) {
            if (settings.connection == Connection.UC) {
                throw refusal(" UC is not supported in librdmacm");
            }
            settings.managedTalk = true;
        } else if (settings.typeOfService != Settings.NONE) {
            environment.out().println(" TOS only valid for rdma_cm based QP and RawEth QP ");
            throw new PerftestFailure(1);
        }
    }

    private void checkForever() throws PerftestFailure {
        if (!settings.forever) {
            return;
        }
        settings.noPeak = true;
        settings.timed = true;
        if (settings.events) {
            throw explained(" run_infinitely does not support events feature yet.");
        }
        if (!settings.isBandwidth()) {
            throw explained(" run_infinitely exists only in BW tests for now.");
        }
        if (settings.bothWays && settings.operation == MeasuredOperation.SEND) {
            throw explained(" run_infinitely mode is not supported in SEND Bidirectional BW test");
        }
    }

    private void checkOutput() throws PerftestFailure {
        if (settings.output == Settings.Output.FULL) {
            return;
        }
        if (settings.isBandwidth() == (settings.output == Settings.Output.LATENCY)) {
            throw explained(
                    settings.isBandwidth()
                            ? " Output verbosity level for BW can be: bandwidth, message_rate"
                            : " Output verbosity level for LAT can be: latency");
        }
    }

    private void chooseRest() throws PerftestFailure {
        boolean isReceiver = settings.isBandwidth() && !settings.isClient() && !settings.bothWays;
        if (settings.operation == MeasuredOperation.SEND) {
            if (isReceiver) {
                settings.noPeak = true;
            }
            if (settings.receiveDepth % 2 == 1 && !settings.allSizes) {
                settings.receiveDepth++;
            }
        }
        if (settings.gapMicroseconds > 0 && settings.isBandwidth()) {
            throw explained(" Latency gap feature is only for latency tests");
        }
        if (!settings.timed && settings.iterations > MOST_PEAK_ITERATIONS) {
            settings.noPeak = true;
        }
    }

    private void line() {
        environment.out().println(PerftestTable.LINE);
    }

    /** The reason behind a line, on standard output. */
    private PerftestFailure refusal(String reason) {
        line();
        environment.out().println(reason);
        return new PerftestFailure(1);
    }

    /** The reason on standard error, the line before it on standard output. */
    private PerftestFailure explained(String reason) {
        line();
        environment.err().println(reason);
        return new PerftestFailure(1);
    }
}
