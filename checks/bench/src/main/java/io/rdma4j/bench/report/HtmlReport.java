package io.rdma4j.bench.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The table and plots as a self-contained HTML page. */
public final class HtmlReport {
    private static final List<String> PERCENTILES =
            List.of("p0", "p10", "p25", "p50", "p75", "p90", "p99", "p99.9", "p99.99", "p100");
    private static final Pattern SIZED = Pattern.compile("(write|send|read)-(latency|throughput)-(\\w+)");

    private static final String STYLE = """
        :root { color-scheme: light dark; --ink: light-dark(#1c1c1c, #e8e8e8); --faint: light-dark(#d9d9d9, #444); }
        body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 1100px; margin: 2em auto; padding: 0 1em; }
        table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
        th, td { padding: 2px 10px; text-align: right; vertical-align: top; }
        th:first-child, td:first-child, td.left { text-align: left; }
        tr { border-top: 1px solid var(--faint); }
        th { border: 0; }
        .group td { font-weight: 600; padding-top: 1em; }
        .met { color: light-dark(#0a7a3c, #5fd08f); }
        .short { color: light-dark(#b3261e, #ff8a80); font-weight: 600; }
        code { opacity: .7; font-size: 12px; }
        svg { width: 100%; max-width: 860px; height: auto; }
        svg text { font-size: 12px; fill: var(--ink); }
        svg .end { text-anchor: end; }
        svg .middle { text-anchor: middle; }
        .grid { stroke: var(--faint); }
        .line { fill: none; stroke-width: 2; }
        .dashed { stroke-dasharray: 5 4; }
        .spread { stroke: var(--ink); }
        .own { fill: #2f6fd6; }
        .other { fill: #9aa3ad; }
        .c0 { stroke: #2f6fd6; } .c1 { stroke: #d9822b; } .c2 { stroke: #2e9e6b; } .c3 { stroke: #c2415c; }
        .c4 { stroke: #7d5fc9; } .c5 { stroke: #1f9fb5; } .c6 { stroke: #8a6d3b; } .c7 { stroke: #7a7f87; }
        .dot { fill: light-dark(#fff, #111); }
        """;

    private final Map<String, Object> machine;
    private final Map<String, Row> rows;
    private final Results results;
    private final Markup page = new Markup();

    private HtmlReport(Map<String, Object> machine, Map<String, Row> rows, Results results) {
        this.machine = machine;
        this.rows = rows;
        this.results = results;
    }

    /**
     * Writes the page.
     *
     * @param machine facts about the machine and the run
     */
    public static String write(Map<String, Object> machine, Map<String, Row> rows, Results results) {
        return new HtmlReport(machine, rows, results).write();
    }

    private String write() {
        page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
        page.raw("<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>rdma4j: figures of a run</title>\n");
        page.raw("<style>\n").text(STYLE).raw("</style>\n</head>\n<body>\n<h1>rdma4j: figures of a run</h1>\n<p>");
        String separator = "";
        for (Map.Entry<String, Object> fact : machine.entrySet()) {
            page.text(separator + fact.getKey() + " " + fact.getValue());
            separator = " · ";
        }
        page.raw("</p>\n");
        writeTable();
        percentiles("Latency by percentile, polling", row -> !row.experiment().contains("block"));
        percentiles("Latency by percentile, blocking", row -> row.experiment().contains("block"));
        bars("Throughput", Unit.GIGABYTES_PER_SECOND);
        bars("Rates of messages and packets", Unit.MILLIONS_PER_SECOND);
        sizes("Latency by size", "latency", Unit.MICROSECONDS);
        sizes("Throughput by size", "throughput", Unit.GIGABYTES_PER_SECOND);
        return page.raw("</body>\n</html>\n").toString();
    }

    // ---- table

    private void writeTable() {
        page.raw("<table>\n<tr>");
        for (String head : List.of("", "median", "least", "most", "× raw", "aim", "reached")) {
            page.element("th", "", head);
        }
        page.raw("</tr>\n");
        String group = "";
        for (Row row : rows.values()) {
            if (!row.group().equals(group)) {
                group = row.group();
                page.raw("<tr class=\"group\">")
                        .element("td", "colspan=\"7\"", group)
                        .raw("</tr>\n");
            }
            writeRow(row);
        }
        page.raw("</table>\n");
    }

    private void writeRow(Row row) {
        page.raw("<tr><td>")
                .text(row.title() + " ")
                .element("code", "", row.id())
                .raw("</td>");
        Optional<Statistics> statistics = results.statistics(row);
        if (statistics.isEmpty()) {
            String reason = results.reason(row.experiment()).orElse("not measured");
            page.element("td", "class=\"left\" colspan=\"6\"", "skipped: " + reason)
                    .raw("</tr>\n");
            return;
        }
        Statistics all = statistics.get();
        page.element("td", "", row.unit().text(all.median()));
        page.element("td", "", Unit.number(all.minimum())).element("td", "", Unit.number(all.maximum()));
        Row raw = row.raw() == null ? null : rows.get(row.raw());
        page.element(
                "td",
                "",
                raw == null
                        ? ""
                        : results.ratio(row, raw)
                                .map(ratio -> Unit.number(ratio.median()))
                                .orElse(""));
        page.raw("<td class=\"left\">");
        for (Aim aim : row.aims()) {
            page.text(aim.text(row.unit())).raw("<br/>");
        }
        page.raw("</td><td class=\"left\">");
        for (Aim aim : row.aims()) {
            writeReached(row, aim);
        }
        page.raw("</td></tr>\n");
    }

    private void writeReached(Row row, Aim aim) {
        Optional<Double> reached = results.reached(row, aim, rows);
        if (reached.isEmpty()) {
            page.text("not measured").raw("<br/>");
            return;
        }
        boolean met = aim.isMetBy(reached.get());
        String figure = aim.against() == null ? "" : Unit.number(reached.get()) + " ";
        page.element("span", met ? "class=\"met\"" : "class=\"short\"", figure + (met ? "met" : "short"))
                .raw("<br/>");
    }

    // ---- plots

    private void percentiles(String title, Predicate<Row> which) {
        LineChart chart = new LineChart(Unit.MICROSECONDS.symbol(), PERCENTILES);
        for (Row row : rows.values()) {
            if (row.figure().equals("p50Micros")
                    && which.test(row)
                    && !SIZED.matcher(row.id()).matches()) {
                chart.add(row.id(), medians(row));
            }
        }
        chart(title, chart);
    }

    private Map<String, Double> medians(Row row) {
        Map<String, Double> medians = new LinkedHashMap<>();
        for (String percentile : PERCENTILES) {
            List<Double> values = results.values(row.experiment(), percentile + "Micros");
            if (!values.isEmpty()) {
                medians.put(percentile, Statistics.of(values).median());
            }
        }
        // A tool that prints only its median has no line.
        return medians.size() > 2 ? medians : Map.of();
    }

    private void chart(String title, LineChart chart) {
        if (!chart.isEmpty()) {
            page.element("h2", "", title);
            chart.drawTo(page);
        }
    }

    private void bars(String title, Unit unit) {
        BarChart chart = new BarChart(unit.symbol());
        for (Row row : rows.values()) {
            if (row.unit() == unit && !SIZED.matcher(row.id()).matches()) {
                results.statistics(row)
                        .ifPresent(value ->
                                chart.add(row.title(), value, row.group().startsWith("this project")));
            }
        }
        if (!chart.isEmpty()) {
            page.element("h2", "", title);
            chart.drawTo(page);
        }
    }

    private void sizes(String title, String kind, Unit unit) {
        Map<String, Map<String, Double>> lines = new LinkedHashMap<>();
        Map<String, Boolean> sizes = new LinkedHashMap<>();
        for (Row row : rows.values()) {
            Matcher matcher = SIZED.matcher(row.id());
            if (matcher.matches() && matcher.group(2).equals(kind)) {
                results.statistics(row).ifPresent(value -> {
                    sizes.put(matcher.group(3), true);
                    lines.computeIfAbsent(matcher.group(1), _ -> new LinkedHashMap<>())
                            .put(matcher.group(3), value.median());
                });
            }
        }
        LineChart chart = new LineChart(unit.symbol(), List.copyOf(sizes.keySet()));
        lines.forEach(chart::add);
        chart(title, chart);
    }
}
