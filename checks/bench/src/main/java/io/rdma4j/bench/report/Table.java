package io.rdma4j.bench.report;

import io.rdma4j.bench.worker.Figures;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The table as text. */
public final class Table {
    private static final String[] HEAD = {"", "median", "least", "most", "p99", "× raw", "aim", "reached", ""};

    private final Map<String, Row> rows;
    private final Results results;

    /** Creates a table of these rows. */
    public Table(Map<String, Row> rows, Results results) {
        this.rows = rows;
        this.results = results;
    }

    /** Returns the lines of the table: columns are aligned, and each group has a heading. */
    public String text() {
        List<@Nullable String[]> lines = new ArrayList<>();
        String group = "";
        lines.add(HEAD);
        for (Row row : rows.values()) {
            if (!row.group().equals(group)) {
                group = row.group();
                lines.add(new String[] {group});
            }
            addRow(row, lines);
        }
        return layOut(lines);
    }

    private void addRow(Row row, List<@Nullable String[]> lines) {
        Optional<Statistics> statistics = results.statistics(row);
        String title = "  " + row.title() + " [" + row.id() + "]";
        if (statistics.isEmpty()) {
            lines.add(new String[] {
                title, "skipped: " + results.reason(row.experiment()).orElse("not measured")
            });
            return;
        }
        Statistics all = statistics.get();
        String[] first = new String[HEAD.length];
        first[0] = title;
        first[1] = row.unit().text(all.median());
        first[2] = Unit.number(all.minimum());
        first[3] = Unit.number(all.maximum());
        first[4] = p99(row);
        first[5] = ratioToRaw(row);
        List<Aim> aims = row.aims();
        for (int i = 0; i < Math.max(1, aims.size()); i++) {
            String[] line = i == 0 ? first : new String[HEAD.length];
            if (i < aims.size()) {
                addAim(row, aims.get(i), line);
            }
            lines.add(line);
        }
        stillCompiling(row).ifPresent(note -> lines.add(new String[] {"    " + note}));
        results.reason(row.experiment()).ifPresent(reason -> lines.add(new String[] {"    " + reason}));
    }

    /** Returns a note if the row is not the figure of a long run. */
    private Optional<String> stillCompiling(Row row) {
        List<Double> values = results.values(row.experiment(), Figures.STILL_COMPILING);
        long count = values.stream().filter(value -> value > 0).count();
        return count == 0
                ? Optional.empty()
                : Optional.of("Java was still compiling in " + count + " of " + values.size()
                        + " repetitions: a longer warm-up shows a better figure");
    }

    private String p99(Row row) {
        if (row.unit() != Unit.MICROSECONDS) {
            return "";
        }
        List<Double> values = results.values(row.experiment(), row.figure().replace("p50", "p99"));
        return values.isEmpty() ? "" : Unit.number(Statistics.of(values).median());
    }

    private String ratioToRaw(Row row) {
        Row raw = row.raw() == null ? null : rows.get(row.raw());
        return raw == null
                ? ""
                : results.ratio(row, raw)
                        .map(ratio -> Unit.number(ratio.median()))
                        .orElse("");
    }

    private void addAim(Row row, Aim aim, String[] line) {
        line[6] = aim.text(row.unit());
        Optional<Double> reached = results.reached(row, aim, rows);
        line[7] = reached.map(value -> aim.against() == null ? "" : Unit.number(value))
                .orElse("-");
        line[8] = reached.map(value -> aim.isMetBy(value) ? "met" : "SHORT").orElse("not measured");
    }

    private static String layOut(List<@Nullable String[]> lines) {
        int[] widths = new int[HEAD.length];
        for (@Nullable String[] line : lines) {
            for (int i = 0; line.length == HEAD.length && i < line.length; i++) {
                widths[i] = Math.max(widths[i], width(line[i]));
            }
        }
        for (@Nullable String[] line : lines) {
            if (line.length == 2) {
                widths[0] = Math.max(widths[0], width(line[0]));
            }
        }
        StringBuilder text = new StringBuilder();
        for (@Nullable String[] line : lines) {
            StringBuilder one = new StringBuilder();
            for (int i = 0; i < line.length; i++) {
                String cell = line[i] == null ? "" : line[i];
                String space = " ".repeat(Math.max(0, widths[i] - cell.length()));
                boolean right = i >= 1 && i <= 5 && line.length == HEAD.length;
                one.append(i == 0 ? "" : "  ").append(right ? space + cell : cell + space);
            }
            text.append(one.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private static int width(@Nullable String cell) {
        return cell == null ? 0 : cell.length();
    }
}
