package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A chart of horizontal bars: the median, with a line from the minimum to the maximum. Not thread safe. */
final class BarChart {
    private static final int WIDTH = 860;
    private static final int LEFT = 400;
    private static final int RIGHT = 90;
    private static final int ROW = 22;

    private record Bar(String name, Statistics value, boolean own) {}

    private final String unit;
    private final List<Bar> bars = new ArrayList<>();

    BarChart(String unit) {
        this.unit = unit;
    }

    /** Adds a bar; {@code own} highlights it as a bar of this project. */
    void add(String name, Statistics value, boolean own) {
        bars.add(new Bar(name, value, own));
    }

    boolean isEmpty() {
        return bars.isEmpty();
    }

    /** Appends the chart as SVG. */
    void drawTo(Markup page) {
        double max = bars.stream().mapToDouble(bar -> bar.value.maximum()).max().orElse(1);
        double scale = (WIDTH - LEFT - RIGHT) / (max > 0 ? max : 1);
        page.format("<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, bars.size() * ROW + 8);
        int top = 4;
        for (Bar bar : bars) {
            double middle = top + ROW / 2.0;
            page.format("<text class=\"end\" x=\"%d\" y=\"%.1f\">", LEFT - 8, middle + 4);
            page.text(bar.name).raw("</text>");
            page.format(
                    "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                    bar.own ? "own" : "other", LEFT, top + 3, bar.value.median() * scale, ROW - 6);
            page.format(
                    "<line class=\"spread\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                    LEFT + bar.value.minimum() * scale, LEFT + bar.value.maximum() * scale, middle, middle);
            page.format("<text x=\"%.1f\" y=\"%.1f\">", LEFT + bar.value.maximum() * scale + 6, middle + 4);
            page.text(Unit.number(bar.value.median()) + " " + unit).raw("</text>\n");
            top += ROW;
        }
        page.raw("</svg>\n");
    }
}
