package io.rdma4j.programs;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Prints the outcomes, a line for each program. */
final class OutcomeTable {
    private static final String FORM = "%-12s  %-16s  %10s  %10s  %6s  %5s  %6s  %6s  %6s  %7s  %7s%n";

    private OutcomeTable() {}

    static String text(List<Program> programs, List<Outcome> outcomes) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                FORM, "", "", "operations", "a second", "time", "", "idle", "%", "client", "server", "killed,"));
        text.append(String.format(
                FORM, "program", "version", "TCP", "RDMA", "x TCP", "TCP", "TCP", "RDMA", "killed", "TCP ms",
                "RDMA ms"));
        for (Program program : programs) {
            Outcome tcp = of(outcomes, program, Transport.TCP);
            Outcome rdma = of(outcomes, program, Transport.RDMA);
            Outcome any = rdma == null ? Objects.requireNonNull(tcp) : rdma;
            text.append(String.format(
                    FORM,
                    program.name(),
                    any.version(),
                    rate(tcp),
                    rate(rdma),
                    ratio(tcp, rdma),
                    connections(rdma),
                    idle(tcp),
                    idle(rdma),
                    any.servesAfterKilledClient() ? "serves" : "-",
                    failure(tcp),
                    failure(rdma)));
        }
        for (Outcome each : outcomes) {
            String failed = each.whatFailed();
            if (failed != null) {
                text.append(String.format("%s over %s FAILED: %s%n", each.program(), each.transport(), failed));
            }
        }
        return text.toString();
    }

    private static @Nullable Outcome of(List<Outcome> outcomes, Program program, Transport transport) {
        return outcomes.stream()
                .filter(each -> each.program().equals(program.name()) && each.transport() == transport)
                .findFirst()
                .orElse(null);
    }

    private static String connections(@Nullable Outcome outcome) {
        return outcome == null || outcome.problem() != null ? "-" : Integer.toString(outcome.tcpConnections());
    }

    private static String rate(@Nullable Outcome outcome) {
        return outcome == null || outcome.problem() != null
                ? "-"
                : String.format(Locale.ROOT, "%.1f", outcome.operationsPerSecond());
    }

    private static String ratio(@Nullable Outcome tcp, @Nullable Outcome rdma) {
        if (tcp == null || rdma == null || tcp.problem() != null || rdma.problem() != null) {
            return "-";
        }
        return String.format(Locale.ROOT, "%.2f", tcp.operationsPerSecond() / rdma.operationsPerSecond());
    }

    private static String idle(@Nullable Outcome outcome) {
        return outcome == null || outcome.problem() != null
                ? "-"
                : String.format(Locale.ROOT, "%.1f", outcome.idleProcessors() * 100);
    }

    private static String failure(@Nullable Outcome outcome) {
        return outcome == null || outcome.problem() != null ? "-" : Long.toString(outcome.failureMillis());
    }
}
