package io.rdma4j.tools.top;

import io.rdma4j.soft.report.StackReport;
import io.rdma4j.tools.command.TerminalText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Formats a sample as two tables: devices, and queue pairs with the busiest first. */
final class TopTable {
    private static final String BOLD = "\u001b[1m";
    private static final String RED = "\u001b[31m";
    private static final String YELLOW = "\u001b[33m";
    private static final String PLAIN = "\u001b[0m";

    private static final double STEP = 1000;
    private static final int PROGRAM_LENGTH = 28;

    private final boolean colours;

    /** Creates a table with the colours of a terminal, or without. */
    TopTable(boolean colours) {
        this.colours = colours;
    }

    /** Returns the lines of a sample. */
    List<String> lines(Sample now, Sample earlier) {
        List<Sample.DeviceRates> devices = now.devicesSince(earlier);
        List<Sample.QueuePairRates> queuePairs = new ArrayList<>(now.queuePairsSince(earlier));
        queuePairs.sort(Comparator.comparingDouble(Sample.QueuePairRates::bytes)
                .reversed()
                .thenComparingLong(each -> each.stack().pid())
                .thenComparingInt(each -> each.report().number()));
        List<String> lines = new ArrayList<>();
        int processes = now.answers().reports().size();
        lines.add(
                processes == 0
                        ? "no process of this user uses rdma4j in this network namespace"
                        : processes
                                + (processes == 1 ? " process, " : " processes, ")
                                + queuePairs.size()
                                + (queuePairs.size() == 1 ? " queue pair" : " queue pairs"));
        now.answers().problems().forEach(problem -> lines.add(TerminalText.of(problem)));
        if (processes > 0) {
            addDevices(lines, devices);
            for (StackReport idle : now.answers().reports()) {
                if (idle.devices().isEmpty()) {
                    lines.add(format("%8d  %-28s  -", idle.pid(), program(idle.program())));
                }
            }
            addQueuePairs(lines, queuePairs);
        }
        int omitted = now.answers().reports().stream()
                .mapToInt(StackReport::omittedQueuePairs)
                .sum();
        if (omitted > 0) {
            lines.add("and " + omitted + " more queue pairs, which the processes did not report");
        }
        return lines;
    }

    private void addDevices(List<String> lines, List<Sample.DeviceRates> devices) {
        lines.add("");
        lines.add(bold(format(
                "%8s  %-28s  %-16s  %5s  %9s  %9s  %9s  %9s",
                "PID", "PROGRAM", "DEVICE", "QPS", "SENTPKT/S", "RCVDPKT/S", "DROPPED", "RETRANS")));
        for (Sample.DeviceRates each : devices) {
            lines.add(format(
                    "%8d  %-28s  %-16s  %5d  %9s  %9s  %9d  %9d",
                    each.stack().pid(),
                    program(each.stack().program()),
                    TerminalText.of(each.report().name()),
                    each.report().queuePairs(),
                    rate(each.sentPackets()),
                    rate(each.receivedPackets()),
                    each.count("dropped_pkts"),
                    each.count("retransmitted_pkts")));
        }
    }

    private void addQueuePairs(List<String> lines, List<Sample.QueuePairRates> queuePairs) {
        lines.add("");
        lines.add(bold(format(
                "%8s  %-8s  %-5s  %-5s  %-24s  %8s  %8s  %8s  %8s  %8s  %8s  %8s",
                "PID",
                "QPN",
                "TYPE",
                "STATE",
                "PEER",
                "SENT/S",
                "RCVD/S",
                "MSG/S",
                "RETR/S",
                "RETRANS",
                "TIMEOUTS",
                "RNR")));
        for (Sample.QueuePairRates each : queuePairs) {
            lines.add(colour(
                    each,
                    format(
                            "%8d  0x%06x  %-5s  %-5s  %-24s  %8s  %8s  %8s  %8s  %8d  %8d  %8d",
                            each.stack().pid(),
                            each.report().number(),
                            type(each.report().type()),
                            state(each.report().state()),
                            TerminalText.of(
                                    each.report().peer().isEmpty()
                                            ? "-"
                                            : each.report().peer()),
                            rate(each.sentBytes()),
                            rate(each.receivedBytes()),
                            rate(each.messages()),
                            rate(each.retransmittedPackets()),
                            each.count("retransmitted_pkts"),
                            each.count("local_ack_timeout_err"),
                            each.count("rcvd_rnr_err") + each.count("send_rnr_err"))));
        }
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation belongs to a library
    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values).stripTrailing();
    }

    /** Returns the program without its packages, shortened to the width of its column. */
    private static String program(String program) {
        String name = program.endsWith(".jar") ? program : program.substring(program.lastIndexOf('.') + 1);
        String safe = TerminalText.of(name);
        return safe.length() <= PROGRAM_LENGTH ? safe : safe.substring(0, PROGRAM_LENGTH - 1) + "…";
    }

    /** Returns the abbreviation of a type in the InfiniBand specification. */
    private static String type(String type) {
        return switch (type) {
            case "RELIABLE_CONNECTION" -> "RC";
            case "UNRELIABLE_CONNECTION" -> "UC";
            case "UNRELIABLE_DATAGRAM" -> "UD";
            case "XRC_SEND" -> "XRCS";
            case "XRC_RECEIVE" -> "XRCR";
            default -> TerminalText.of(type);
        };
    }

    /** Returns the abbreviation of a state in the InfiniBand specification. */
    private static String state(String state) {
        return switch (state) {
            case "READY_TO_RECEIVE" -> "RTR";
            case "READY_TO_SEND" -> "RTS";
            case "SEND_QUEUE_DRAINED" -> "SQD";
            case "SEND_QUEUE_ERROR" -> "SQE";
            case "ERROR" -> "ERR";
            default -> TerminalText.of(state);
        };
    }

    /** Formats a rate with a decimal unit prefix. */
    private static String rate(double value) {
        double scaled = value;
        for (String unit : List.of("", "k", "M", "G")) {
            if (scaled < STEP || unit.equals("G")) {
                return String.format(Locale.ROOT, unit.isEmpty() ? "%.0f%s" : "%.1f%s", scaled, unit);
            }
            scaled /= STEP;
        }
        throw new AssertionError("the last unit has no limit");
    }

    private String bold(String line) {
        return colours ? BOLD + line + PLAIN : line;
    }

    private String colour(Sample.QueuePairRates queuePair, String line) {
        if (!colours) {
            return line;
        }
        if (state(queuePair.report().state()).equals("ERR")) {
            return RED + line + PLAIN;
        }
        return queuePair.retransmittedPackets() > 0 ? YELLOW + line + PLAIN : line;
    }
}
