package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A line chart with named points on the horizontal axis and a logarithmic vertical axis. Not thread safe. */
final class LineChart {
    private static final int WIDTH = 860;
    private static final int HEIGHT = 380;
    private static final int LEFT = 60;
    private static final int RIGHT = 250;
    private static final int TOP = 30;
    private static final int BOTTOM = 40;
    private static final int COLOURS = 8;

    private final String unit;
    private final List<String> points;
    private final Map<String, Map<String, Double>> lines = new LinkedHashMap<>();

    /**
     * Creates an empty chart.
     *
     * @param unit unit of the values
     * @param points names of the points on the axis, from left to right
     */
    LineChart(String unit, List<String> points) {
        this.unit = unit;
        this.points = points;
    }

    /** Adds a line: positive values by point. There are eight colours; further lines use them again, dashed. */
    void add(String name, Map<String, Double> values) {
        Map<String, Double> drawable = new LinkedHashMap<>();
        values.forEach((point, value) -> {
            if (value > 0 && Double.isFinite(value) && points.contains(point)) {
                drawable.put(point, value);
            }
        });
        if (!drawable.isEmpty()) {
            lines.put(name, drawable);
        }
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    private double x(String point) {
        int last = Math.max(1, points.size() - 1);
        return LEFT + (double) points.indexOf(point) / last * (WIDTH - LEFT - RIGHT);
    }

    private static double y(double value, int lowest, int highest) {
        double part = (Math.log10(value) - lowest) / (highest - lowest);
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
    }

    /** Appends the chart as SVG. */
    void drawTo(Markup page) {
        List<Double> all = new ArrayList<>();
        lines.values().forEach(line -> all.addAll(line.values()));
        Statistics range = Statistics.of(all);
        int lowest = (int) Math.floor(Math.log10(range.minimum()));
        int highest = Math.max(lowest + 1, (int) Math.ceil(Math.log10(range.maximum())));
        page.format("<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
        for (int power = lowest; power <= highest; power++) {
            double y = y(Math.pow(10, power), lowest, highest);
            page.format(
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, y, y);
            page.format("<text class=\"end\" x=\"%d\" y=\"%.1f\">", LEFT - 6, y + 4);
            page.text(scale(power)).raw("</text>\n");
        }
        page.format("<text class=\"end\" x=\"%d\" y=\"14\">", LEFT - 6)
                .text(unit)
                .raw("</text>\n");
        for (String point : points) {
            page.format("<text class=\"middle\" x=\"%.1f\" y=\"%d\">", x(point), HEIGHT - BOTTOM + 18);
            page.text(point).raw("</text>\n");
        }
        int number = 0;
        for (Map.Entry<String, Map<String, Double>> line : lines.entrySet()) {
            drawLine(page, line.getKey(), line.getValue(), number++, lowest, highest);
        }
        page.raw("</svg>\n");
    }

    private static String scale(int power) {
        return power >= 0 ? Long.toString(Math.round(Math.pow(10, power))) : Double.toString(Math.pow(10, power));
    }

    private void drawLine(Markup page, String name, Map<String, Double> line, int number, int lowest, int highest) {
        String style = "c" + number % COLOURS + (number >= COLOURS ? " dashed" : "");
        page.format("<polyline class=\"line %s\" points=\"", style);
        line.forEach((point, value) -> page.format("%.1f,%.1f ", x(point), y(value, lowest, highest)));
        page.raw("\"/>\n");
        line.forEach((point, value) -> {
            page.format(
                    "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\">",
                    style, x(point), y(value, lowest, highest));
            page.element("title", "", name + ", " + point + ": " + Unit.number(value) + " " + unit);
            page.raw("</circle>\n");
        });
        int legend = TOP + 8 + number * 20;
        int from = WIDTH - RIGHT + 16;
        page.format(
                "<line class=\"line %s\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>",
                style, from, from + 18, legend, legend);
        page.format("<text x=\"%d\" y=\"%d\">", from + 24, legend + 4)
                .text(name)
                .raw("</text>\n");
    }
}
