package io.rdma4j.bench.report;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes JSON (RFC 8259), which {@link JsonParser} reads. */
public final class BenchJson {
    private final StringBuilder text = new StringBuilder();
    private final boolean oneLine;

    private BenchJson(boolean oneLine) {
        this.oneLine = oneLine;
    }

    /**
     * Writes a value, indented by two spaces.
     *
     * @param value a {@link Map} (keys by {@code toString}), an {@link Iterable}, a number, a boolean, null, or
     *     anything else by its {@code toString}. Numbers that JSON cannot represent (infinities and NaN) become null
     */
    public static String write(@Nullable Object value) {
        return new BenchJson(false).append(value, "\n").text.append('\n').toString();
    }

    /** Writes a value like {@link #write}, but on one line. */
    public static String writeLine(@Nullable Object value) {
        return new BenchJson(true).append(value, "").text.toString();
    }

    private BenchJson append(@Nullable Object value, String newLine) {
        switch (value) {
            case null -> text.append("null");
            case Map<?, ?> map -> appendMap(map, newLine);
            case Iterable<?> list -> appendList(list, newLine);
            case Boolean truth -> text.append(truth);
            case Double number when !Double.isFinite(number) -> text.append("null");
            case Number number -> text.append(number);
            default -> appendText(value.toString());
        }
        return this;
    }

    private void appendMap(Map<?, ?> map, String newLine) {
        String inner = inner(newLine);
        String separator = "";
        text.append('{');
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            text.append(separator).append(inner);
            appendText(String.valueOf(entry.getKey()));
            text.append(": ");
            append(entry.getValue(), inner);
            separator = oneLine ? ", " : ",";
        }
        text.append(map.isEmpty() ? "" : newLine).append('}');
    }

    private void appendList(Iterable<?> list, String newLine) {
        String inner = inner(newLine);
        String separator = "";
        text.append('[');
        for (Object each : list) {
            text.append(separator).append(inner);
            append(each, inner);
            separator = oneLine ? ", " : ",";
        }
        text.append(separator.isEmpty() ? "" : newLine).append(']');
    }

    private String inner(String newLine) {
        return oneLine ? "" : newLine + "  ";
    }

    private void appendText(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                default -> {
                    if (c < ' ' || c == '\u007f' || Character.isSurrogate(c)) {
                        text.append("\\u%04x".formatted((int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
