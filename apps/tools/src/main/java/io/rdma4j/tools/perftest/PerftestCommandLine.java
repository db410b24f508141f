package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A parser of perftest's command line, with perftest's messages. */
final class PerftestCommandLine {
    private static final Pattern INTEGER = Pattern.compile("\\s*[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)?");
    /** A larger number loses its upper bits, as in C. */
    private static final int MAX_PORT = 0xffff;

    static final int MAX_SEND_DEPTH = 15_000;
    static final int MAX_RECEIVE_DEPTH = 16_384;
    private static final int MAX_FLOW_LABEL = 0xf_ffff;
    private static final long MAX_BYTES = (1L << 31) - 1;

    final String tool;
    final Settings settings;
    final ToolEnvironment environment;

    PerftestCommandLine(String tool, Settings settings, ToolEnvironment environment) {
        this.tool = tool;
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * Parses the arguments into the settings.
     *
     * @throws ToolFailure if the command line is invalid, or requests help or the version; the text has been printed
     */
    void read(List<String> arguments) throws ToolFailure {
        List<String> operands = PerftestOptions.of(settings.operation, settings.measure)
                .parse(tool, arguments, this, environment.err(), _ -> usage());
        if (operands.size() > 1) {
            throw refusal(" Invalid Command line. Please check command rerun ");
        }
        checkReceives();
        settings.server = operands.isEmpty() ? null : operands.getFirst();
        new SettingsRules(settings, environment).apply();
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

    // ---- options

    void takePort(String value) throws ToolFailure {
        int _ = number(value, "Port");
        settings.port = (int) CStrings.strtol(value) & MAX_PORT;
    }

    void takeDuration(String value) throws ToolFailure {
        settings.durationSeconds = number(value, "Duration period");
        refuseIf(settings.durationSeconds <= 0, " Duration period must be positive");
        settings.timed = true;
    }

    void takeImmediate(MeasuredOperation operation, String name) throws ToolFailure {
        String word = operation.word();
        refuseIf(
                settings.operation != operation,
                name + "_with_imm can only be used with " + word + "_lat and " + word + "_bw tests");
        settings.immediate = true;
    }

    /** The option takes no argument. */
    void takeHistogram(String ignored) throws ToolFailure {
        refuseIf(settings.isBandwidth(), " Available only on Latency tests");
        settings.histogram = true;
    }

    void takeConnection(String value) throws ToolFailure {
        settings.connection = connection(value);
    }

    void takeSize(String value) throws ToolFailure {
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

    void takeAtomicType(String value) throws ToolFailure {
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

    void takeFlowLabels(String value) throws ToolFailure {
        List<Integer> labels = new ArrayList<>();
        for (String each : value.split(",", -1)) {
            labels.add(number(each, "Flow label", 0, MAX_FLOW_LABEL));
        }
        settings.flowLabels = List.copyOf(labels);
    }

    void takeOutput(String value) throws ToolFailure {
        settings.output = switch (value) {
            case "bandwidth" -> Settings.Output.BANDWIDTH;
            case "message_rate" -> Settings.Output.MESSAGE_RATE;
            case "latency" -> Settings.Output.LATENCY;
            default ->
                throw refusal(" Invalid verbosity level output flag. Please use bandwidth, latency, message_rate");
        };
    }

    // ---- values

    int number(String value, String name) throws ToolFailure {
        if (!INTEGER.matcher(value).matches()) {
            throw refusal(" " + name + " argument " + value + " should be int");
        }
        // Clamped, since truncation to a C int would yield a different number.
        return Math.clamp(CStrings.strtol(value), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    int number(String value, String name, int min, int max) throws ToolFailure {
        int number = number(value, name);
        if (number < min || number > max) {
            throw refusal(" " + name + " should be between " + min + " and " + max);
        }
        return number;
    }

    int nonNegative(String value, String name) throws ToolFailure {
        int number = number(value, name);
        if (number < 0) {
            throw refusal(" " + name + " must be non-negative");
        }
        return number;
    }

    float limit(String value, String refusal) throws ToolFailure {
        float limit = CStrings.strtof(value);
        if (limit < 0) {
            throw refusal(refusal);
        }
        return limit;
    }

    // ---- failures

    void refuseIf(boolean condition, String line) throws ToolFailure {
        if (condition) {
            throw refusal(line);
        }
    }

    private ToolFailure usage() {
        environment.err().println(" Invalid Command or flag.");
        environment.err().println(" Please check command line and run again.");
        environment.err().println();
        environment.out().print(PerftestOptions.usage(tool, settings));
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

    ToolFailure unsupported(String option) {
        return exit(tool + ": the option " + option + " of perftest is not supported: "
                + "docs/tools/perftest.md lists the supported options and the reasons");
    }
}
