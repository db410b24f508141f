package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.Getopt;
import io.rdma4j.tools.command.Getopt.LongOption;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A parser of perftest's command line, with perftest's messages. */
final class PerftestCommandLine {
    /** All option letters of perftest 4.5, including those that are rejected here. */
    private static final String LETTERS =
            "w:y:p:d:i:m:s:n:t:u:S:x:c:q:I:o:M:r:Q:A:l:D:f:B:T:L:E:J:j:K:k:X:W:aFegzRvhbNVCHUOZP";

    private static final Pattern INTEGER = Pattern.compile("\\s*[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)?");
    /** A larger number loses its upper bits, as in C. */
    private static final int MAX_PORT = 0xffff;

    private static final int MIN_ITERATIONS = 5;
    private static final int MAX_ITERATIONS = 100_000_000;
    private static final int MAX_SEND_DEPTH = 15_000;
    private static final int MAX_RECEIVE_DEPTH = 16_384;
    private static final int MAX_QUEUE_PAIRS = 16_384;
    private static final int MAX_MODERATION = 1024;
    private static final int MAX_INLINE_BYTES = 912;
    private static final int MAX_GID_INDEX = 64;
    private static final int MAX_COMPLETION_VECTOR = 2048;
    private static final int MAX_FLOW_LABEL = 0xf_ffff;
    private static final int MAX_COMPLETION_BATCH = 65_535;
    private static final long MAX_BYTES = (1L << 31) - 1;

    /** The first of the characters that represent options without a letter, in Unicode's private use area. */
    private static final char FIRST_NAMED = '\uE000';

    private static final List<String> NAMED = List.of(
            "run_infinitely",
            "report_gbits",
            "report-both",
            "output=",
            "latency_gap=",
            "retry_count=",
            "dont_xchg_versions",
            "ipv6",
            "mr_per_qp",
            "tclass=",
            "wait_destroy=",
            "perform_warm_up",
            "use_old_post_send",
            "disable_pcie_relaxed",
            "pkey_index=",
            "source_ip=",
            "force-link=",
            "use-srq",
            "reversed",
            "inline_recv=",
            "recv_post_list=",
            "cpu_util",
            "out_json",
            "out_json_file=",
            "report-per-port",
            "rate_limit=",
            "rate_limit_type=",
            "rate_units=",
            "burst_size=",
            "use_hugepages",
            "odp",
            "dlid=",
            "mmap=",
            "mmap-offset=",
            "use_cuda=",
            "write_with_imm",
            "send_with_imm",
            "cqe_poll=",
            "flow_label=");

    private static final Map<String, Character> LETTERED = Map.ofEntries(
            Map.entry("port=", 'p'),
            Map.entry("ib-dev=", 'd'),
            Map.entry("ib-port=", 'i'),
            Map.entry("mtu=", 'm'),
            Map.entry("size=", 's'),
            Map.entry("iters=", 'n'),
            Map.entry("tx-depth=", 't'),
            Map.entry("qp-timeout=", 'u'),
            Map.entry("sl=", 'S'),
            Map.entry("gid-index=", 'x'),
            Map.entry("all", 'a'),
            Map.entry("CPU-freq", 'F'),
            Map.entry("connection=", 'c'),
            Map.entry("qp=", 'q'),
            Map.entry("events", 'e'),
            Map.entry("vector=", 'X'),
            Map.entry("inline_size=", 'I'),
            Map.entry("outs=", 'o'),
            Map.entry("mcg", 'g'),
            Map.entry("comm_rdma_cm", 'z'),
            Map.entry("rdma_cm", 'R'),
            Map.entry("tos=", 'T'),
            Map.entry("hop_limit=", 'L'),
            Map.entry("help", 'h'),
            Map.entry("MGID=", 'M'),
            Map.entry("rx-depth=", 'r'),
            Map.entry("bidirectional", 'b'),
            Map.entry("cq-mod=", 'Q'),
            Map.entry("noPeak", 'N'),
            Map.entry("version", 'V'),
            Map.entry("report-cycles", 'C'),
            Map.entry("report-histogrm", 'H'),
            Map.entry("report-histogram", 'H'),
            Map.entry("report-unsorted", 'U'),
            Map.entry("atomic_type=", 'A'),
            Map.entry("dualport", 'O'),
            Map.entry("post_list=", 'l'),
            Map.entry("duration=", 'D'),
            Map.entry("margin=", 'f'),
            Map.entry("limit_bw=", 'w'),
            Map.entry("limit_msgrate=", 'y'),
            Map.entry("report-counters=", 'W'));

    private static final List<LongOption> LONG_OPTIONS = longOptions();

    private final String tool;
    private final Settings settings;
    private final ToolEnvironment environment;

    PerftestCommandLine(String tool, Settings settings, ToolEnvironment environment) {
        this.tool = tool;
        this.settings = settings;
        this.environment = environment;
    }

    private static List<LongOption> longOptions() {
        List<LongOption> options = new ArrayList<>();
        LETTERED.forEach((name, letter) -> options.add(longOption(name, letter)));
        for (int i = 0; i < NAMED.size(); i++) {
            options.add(longOption(NAMED.get(i), (char) (FIRST_NAMED + i)));
        }
        return options;
    }

    private static LongOption longOption(String name, char letter) {
        boolean hasArgument = name.endsWith("=");
        return new LongOption(hasArgument ? name.substring(0, name.length() - 1) : name, hasArgument, letter);
    }

    /**
     * Parses the arguments into the settings.
     *
     * @return true if the test must run, or false if help or version was requested and has been printed
     * @throws ToolFailure if the command line is invalid; the reason has been printed
     */
    boolean read(List<String> arguments) throws ToolFailure {
        Getopt options = new Getopt(tool, LETTERS, LONG_OPTIONS, arguments, environment.err());
        for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
            if (letter == 'h') {
                environment.out().print(PerftestHelp.usage(tool, settings));
                return false;
            }
            if (letter == 'V') {
                environment.out().println("Version: " + Handshake.VERSION);
                return false;
            }
            if (letter >= FIRST_NAMED) {
                parseNamed(NAMED.get(letter - FIRST_NAMED), options.argumentOrEmpty());
            } else {
                parse((char) letter, options.argumentOrEmpty());
            }
        }
        if (options.operands().size() > 1) {
            throw refusal(" Invalid Command line. Please check command rerun ");
        }
        checkReceives();
        settings.server =
                options.operands().isEmpty() ? null : options.operands().getFirst();
        new SettingsRules(settings, environment).apply();
        return true;
    }

    // ---- options with a letter

    private void parse(char letter, String value) throws ToolFailure {
        switch (letter) {
            case 'p' -> {
                int _ = number(value, "Port");
                settings.port = (int) CStrings.strtol(value) & MAX_PORT;
            }
            case 'd' -> settings.device = value;
            case 'i' -> {
                settings.devicePort = number(value, "IB Port");
                if (settings.devicePort < 1) {
                    throw refusal("IB Port can't be less than 1");
                }
            }
            case 'm' -> settings.mtuBytes = number(value, "MTU");
            case 'n' -> settings.iterations = number(value, "Iteration num", MIN_ITERATIONS, MAX_ITERATIONS);
            case 't' -> settings.sendDepth = number(value, "Tx depth", 1, MAX_SEND_DEPTH);
            case 'r' -> parseReceiveDepth(value);
            case 's' -> parseSize(value);
            case 'a' -> settings.allSizes = true;
            case 'c' -> settings.connection = connection(value);
            case 'q' -> parseQueuePairs(value);
            case 'o' -> parseOutstanding(value);
            case 'A' -> parseAtomicType(value);
            case 'D' -> {
                settings.durationSeconds = number(value, "Duration period");
                if (settings.durationSeconds <= 0) {
                    throw refusal(" Duration period must be positive");
                }
                settings.timed = true;
            }
            case 'f' -> settings.marginSeconds = nonNegative(value, "Margin");
            case 'T' -> settings.typeOfService = number(value, "TOS", 0, 255);
            case 'u' -> settings.timeoutExponent = number(value, "QP Timeout") & 0x1f;
            case 'x' -> settings.gidIndex = number(value, "Gid index", 0, MAX_GID_INDEX);
            case 'z' -> settings.rdmaCmControl = true;
            case 'R' -> settings.rdmaCm = true;
            case 'F' -> {
                // Concerns the processor's cycle counter, which is not used here.
            }
            case 'S' -> {
                int level = number(value, "Service Level");
                if (level < 0 || level > 15) {
                    throw refusal(" Only 15 Service levels");
                }
                settings.serviceLevel = level;
            }
            default -> parseRare(letter, value);
        }
    }

    private void parseRare(char letter, String value) throws ToolFailure {
        switch (letter) {
            case 'I' -> {
                settings.inlineBytes = number(value, "Max inline", 0, MAX_INLINE_BYTES);
                refuseIf(settings.operation.isFetch(), " Inline feature not available on READ/Atomic verbs");
            }
            case 'e' -> settings.events = true;
            case 'X' -> settings.completionVector = number(value, "EQN", 0, MAX_COMPLETION_VECTOR);
            case 'Q' -> {
                settings.moderation = number(value, "CQ moderation", 1, MAX_MODERATION);
                settings.isModerationSet = true;
            }
            case 'l' -> settings.postList = number(value, "Send Post List size", 1, MAX_SEND_DEPTH);
            case 'b' -> {
                refuseIf(!settings.isBandwidth(), " Bidirectional is only available in BW test");
                settings.bidirectional = true;
            }
            case 'N' -> {
                refuseIf(!settings.isBandwidth(), " NoPeak only valid for BW tests");
                settings.noPeak = true;
            }
            case 'H' -> {
                refuseIf(settings.isBandwidth(), " Available only on Latency tests");
                settings.histogram = true;
            }
            case 'U' -> {
                refuseIf(settings.isBandwidth(), " is Available only on Latency tests");
                settings.unsorted = true;
            }
            case 'w' -> settings.minBandwidth = limit(value, " Invalid Minimum BW Limit");
            case 'y' -> settings.minMessageRate = limit(value, " Invalid Minimum msgRate Limit");
            case 'L' -> {
                environment.out().println(" Hop limit only valid for RawEth QP ");
                throw new ToolFailure(1);
            }
            case '?' -> throw usage();
            default -> throw unsupported("-" + letter);
        }
    }

    /** Checks the options of receives, which WRITEs have only with immediate data. */
    private void checkReceives() throws ToolFailure {
        if (settings.consumesReceives()) {
            if (!settings.isReceiveDepthSet) {
                settings.receiveDepth = Settings.DEFAULT_RECEIVE_DEPTH;
            }
            return;
        }
        refuseIf(settings.receiveDepth > 1, " On RDMA verbs rx depth can be only 1");
        refuseIf(
                settings.operation == MeasuredOperation.WRITE && settings.events,
                " Events feature not available on WRITE verb");
    }

    private void parseReceiveDepth(String value) throws ToolFailure {
        settings.receiveDepth = number(value, " Rx depth", 1, MAX_RECEIVE_DEPTH);
        settings.isReceiveDepthSet = true;
    }

    private void parseSize(String value) throws ToolFailure {
        long factor = 1;
        String digits = value;
        if (value.endsWith("K") || value.endsWith("M")) {
            factor = value.endsWith("K") ? 1 << 10 : 1 << 20;
            digits = value.substring(0, value.length() - 1);
        }
        long number = CStrings.strtol(digits);
        settings.isSizeSet = true;
        if (number < 1 || number > MAX_BYTES / factor) {
            throw refusal(" Message Size should be between 1 and " + MAX_BYTES);
        }
        settings.sizeBytes = number * factor;
    }

    private ConnectionType connection(String value) throws ToolFailure {
        for (ConnectionType each : ConnectionType.values()) {
            if (each.name().equals(value)) {
                if (each == ConnectionType.UC && settings.operation.isFetch()) {
                    throw exit(" UC connection not possible in READ/ATOMIC verbs");
                }
                if (each == ConnectionType.UD && settings.operation != MeasuredOperation.SEND) {
                    throw exit(" UD connection only possible in SEND verb");
                }
                return each;
            }
        }
        if (List.of("DC", "SRD", "RawEth").contains(value)) {
            throw unsupported("-c " + value);
        }
        throw exit(" Invalid Connection type. Please choose from {RC,UC,UD,XRC,DC,SRD}");
    }

    private void parseQueuePairs(String value) throws ToolFailure {
        refuseIf(!settings.isBandwidth(), " Multiple QPs only available on bw tests");
        settings.queuePairs = number(value, "num of Qps", 1, MAX_QUEUE_PAIRS);
    }

    private void parseOutstanding(String value) throws ToolFailure {
        settings.outstanding = number(value, "Outstanding Reads");
        refuseIf(!settings.operation.isFetch(), " Setting Outstanding reads only available on READ verb");
    }

    private void parseAtomicType(String value) throws ToolFailure {
        if (settings.operation != MeasuredOperation.ATOMIC) {
            environment.err().println(" You are not running the atomic_lat/bw test!");
            throw refusal(" To change the atomic action type, you must run one of the atomic tests");
        }
        settings.compareAndSwap = switch (value) {
            case "CMP_AND_SWAP" -> true;
            case "FETCH_AND_ADD" -> false;
            default -> throw exit(" Invalid Atomic type! please choose from {CMP_AND_SWAP,FETCH_AND_ADD}");
        };
    }

    // ---- options with a name

    private void parseNamed(String name, String value) throws ToolFailure {
        switch (name) {
            case "run_infinitely" -> settings.infinite = true;
            case "report_gbits" -> settings.gigabits = true;
            case "report-both" -> settings.reportBoth = true;
            case "output=" -> settings.output = output(value);
            case "latency_gap=" -> settings.gapMicroseconds = nonNegative(value, "Latency gap time");
            case "retry_count=" -> settings.retryCount = Math.min(7, nonNegative(value, "Retry Count"));
            case "dont_xchg_versions" -> settings.skipVersions = true;
            case "ipv6" -> settings.ipv6 = true;
            case "mr_per_qp" -> settings.regionPerQueuePair = true;
            case "tclass=" -> settings.trafficClass = number(value, "traffic class") & 0xff;
            case "wait_destroy=" -> settings.waitSeconds = number(value, "wait_destroy");
            case "perform_warm_up" -> settings.warmUp = true;
            case "write_with_imm" -> {
                refuseIf(
                        settings.operation != MeasuredOperation.WRITE,
                        "Write_with_imm can only be used with write_lat and write_bw tests");
                settings.immediate = true;
            }
            case "send_with_imm" -> {
                refuseIf(
                        settings.operation != MeasuredOperation.SEND,
                        "Send_with_imm can only be used with send_lat and send_bw tests");
                settings.immediate = true;
            }
            case "use-srq" -> settings.sharedReceives = true;
            case "recv_post_list=" ->
                settings.receivePostList = number(value, "Receive Post List size", 1, MAX_RECEIVE_DEPTH);
            case "cqe_poll=" -> settings.completionBatch = number(value, "CQE Poll", 1, MAX_COMPLETION_BATCH);
            case "flow_label=" -> settings.flowLabels = flowLabels(value);
            case "source_ip=" -> settings.source = value;
            case "use_old_post_send", "disable_pcie_relaxed" -> {
                // There is only one way to post, and no PCI bus.
            }
            case "pkey_index=" -> number(value, "Pkey index", 0, 0);
            case "force-link=" -> {
                if (!value.regionMatches(true, 0, "Ethernet", 0, 8)) {
                    throw unsupported("--force-link=" + value);
                }
            }
            default -> throw unsupported("--" + name.replace("=", ""));
        }
    }

    private List<Integer> flowLabels(String value) throws ToolFailure {
        List<Integer> labels = new ArrayList<>();
        for (String each : value.split(",", -1)) {
            labels.add(number(each, "Flow label", 0, MAX_FLOW_LABEL));
        }
        return List.copyOf(labels);
    }

    private Settings.Output output(String value) throws ToolFailure {
        return switch (value) {
            case "bandwidth" -> Settings.Output.BANDWIDTH;
            case "message_rate" -> Settings.Output.MESSAGE_RATE;
            case "latency" -> Settings.Output.LATENCY;
            default ->
                throw refusal(" Invalid verbosity level output flag. Please use bandwidth, latency, message_rate");
        };
    }

    // ---- values

    private int number(String value, String name) throws ToolFailure {
        if (!INTEGER.matcher(value).matches()) {
            throw refusal(" " + name + " argument " + value + " should be int");
        }
        // Clamped, since truncation to a C int would yield a different number.
        return Math.clamp(CStrings.strtol(value), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    private int number(String value, String name, int min, int max) throws ToolFailure {
        int number = number(value, name);
        if (number < min || number > max) {
            throw refusal(" " + name + " should be between " + min + " and " + max);
        }
        return number;
    }

    private int nonNegative(String value, String name) throws ToolFailure {
        int number = number(value, name);
        if (number < 0) {
            throw refusal(" " + name + " must be non-negative");
        }
        return number;
    }

    private float limit(String value, String refusal) throws ToolFailure {
        float limit = CStrings.strtof(value);
        if (limit < 0) {
            throw refusal(refusal);
        }
        return limit;
    }

    // ---- failures

    private void refuseIf(boolean condition, String line) throws ToolFailure {
        if (condition) {
            throw refusal(line);
        }
    }

    private ToolFailure usage() {
        environment.err().println(" Invalid Command or flag.");
        environment.err().println(" Please check command line and run again.");
        environment.err().println();
        environment.out().print(PerftestHelp.usage(tool, settings));
        environment.err().println(" Parser function exited with Error");
        return new ToolFailure(1);
    }

    private ToolFailure refusal(String line) {
        environment.err().println(line);
        environment.err().println(" Parser function exited with Error");
        return new ToolFailure(1);
    }

    private ToolFailure exit(String line) {
        environment.err().println(line);
        return new ToolFailure(1);
    }

    private ToolFailure unsupported(String option) {
        return exit(tool + ": the option " + option + " of perftest is not supported: "
                + "docs/tools/perftest.md lists the supported options and the reasons");
    }
}
