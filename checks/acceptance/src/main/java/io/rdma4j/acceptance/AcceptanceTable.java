package io.rdma4j.acceptance;

import io.rdma4j.acceptance.Outcome.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** The table of results, as text for people and as rows for JSON. */
final class AcceptanceTable {
    /**
     * A row.
     *
     * @param number number of the test
     * @param title title of the test
     * @param scale quick or full
     * @param required the required figure
     * @param measured the measured figure
     * @param verdict passed, failed, slow or cannot
     * @param seconds duration of the test
     */
    record Row(
            int number, String title, String scale, String required, String measured, String verdict, long seconds) {}

    private static final int WIDTH = 60;

    private final List<Row> rows = new ArrayList<>();

    void add(AcceptanceTest test, Scale scale, Outcome outcome, long seconds) {
        rows.add(new Row(
                test.number(),
                test.title(),
                scale.name().toLowerCase(Locale.ROOT),
                test.body().required(scale),
                outcome.measured(),
                outcome.verdict().name().toLowerCase(Locale.ROOT),
                seconds));
    }

    List<Row> rows() {
        return Collections.unmodifiableList(rows);
    }

    boolean hasFailures() {
        return count(Verdict.FAILED) > 0;
    }

    boolean isSlow() {
        return count(Verdict.SLOW) > 0;
    }

    /** Returns the left half of a row: number, title and required figure. */
    static String head(AcceptanceTest test, Scale scale) {
        return "%2d  %-28s  %s"
                .formatted(test.number(), test.title(), test.body().required(scale));
    }

    /** Returns the table with aligned columns; long figures are wrapped. */
    String text() {
        StringBuilder text = new StringBuilder(line("", "test", "required", "measured", "", "s"));
        for (Row row : rows) {
            List<String> required = wrap(row.required());
            List<String> measured = wrap(row.measured());
            boolean isShort = row.verdict().equals("failed") || row.verdict().equals("slow");
            String verdict = isShort ? row.verdict().toUpperCase(Locale.ROOT) : row.verdict();
            text.append(line(
                    Integer.toString(row.number()),
                    row.title(),
                    required.getFirst(),
                    measured.getFirst(),
                    verdict,
                    Long.toString(row.seconds())));
            for (int i = 1; i < Math.max(required.size(), measured.size()); i++) {
                text.append(line("", "", part(required, i), part(measured, i), "", ""));
            }
        }
        long passed = count(Verdict.PASSED);
        long slow = count(Verdict.SLOW);
        long cannot = count(Verdict.CANNOT);
        return text.append("\n%d of %d passed%s%s%n"
                        .formatted(
                                passed,
                                rows.size(),
                                slow == 0 ? "" : ", " + slow + " correct but slow",
                                cannot == 0 ? "" : ", " + cannot + " cannot run here"))
                .toString();
    }

    private long count(Verdict verdict) {
        String name = verdict.name().toLowerCase(Locale.ROOT);
        return rows.stream().filter(row -> row.verdict().equals(name)).count();
    }

    private static String part(List<String> lines, int index) {
        return index < lines.size() ? lines.get(index) : "";
    }

    private static String line(
            String number, String title, String required, String measured, String verdict, String time) {
        return "%2s  %-28s  %-60s  %-60s  %-6s %5s"
                        .formatted(number, title, required, measured, verdict, time)
                        .stripTrailing()
                + "\n";
    }

    private static List<String> wrap(String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > WIDTH) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
