package io.rdma4j.tools.command;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes JSON (RFC 8259), indented by two spaces, with {@code \n} as the line terminator. */
final class Json {
    private Json() {}

    /**
     * Formats a value as JSON.
     *
     * @param value a {@link Map} (keys by {@code toString}), an {@link Iterable}, a number, a boolean, null, or any
     *     other object by its {@code toString}. Numbers that JSON cannot represent (infinities, NaN) become null.
     */
    static String write(@Nullable Object value) {
        StringBuilder text = new StringBuilder();
        write(value, "\n", text);
        return text.toString();
    }

    private static void write(@Nullable Object value, String newLine, StringBuilder text) {
        switch (value) {
            case null -> text.append("null");
            case Map<?, ?> map -> writeMap(map, newLine, text);
            case Iterable<?> list -> writeList(list, newLine, text);
            case Boolean truth -> text.append(truth);
            case Double number when !Double.isFinite(number) -> text.append("null");
            case Float number when !Float.isFinite(number) -> text.append("null");
            case Number number -> text.append(number);
            default -> writeText(value.toString(), text);
        }
    }

    private static void writeMap(Map<?, ?> map, String newLine, StringBuilder text) {
        String inner = newLine + "  ";
        String separator = "";
        text.append('{');
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            text.append(separator).append(inner);
            writeText(String.valueOf(entry.getKey()), text);
            text.append(": ");
            write(entry.getValue(), inner, text);
            separator = ",";
        }
        text.append(map.isEmpty() ? "}" : newLine + "}");
    }

    private static void writeList(Iterable<?> list, String newLine, StringBuilder text) {
        String inner = newLine + "  ";
        String separator = "";
        text.append('[');
        for (Object each : list) {
            text.append(separator).append(inner);
            write(each, inner, text);
            separator = ",";
        }
        text.append(separator.isEmpty() ? "]" : newLine + "]");
    }

    private static void writeText(String value, StringBuilder text) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < ' ' || Character.isSurrogate(c) || c == '\u007f') {
                        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
