package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads JSON (RFC 8259): objects as {@link Map}, arrays as {@link List}, numbers as {@link Double}. */
public final class JsonParser {
    private static final int DEPTH_LIMIT = 64;

    private final String text;
    private int position;
    private int depth;

    private JsonParser(String text) {
        this.text = text;
    }

    /**
     * Reads one value, and nothing behind it.
     *
     * @throws IllegalArgumentException if it is not JSON; the message says where
     */
    public static @Nullable Object parse(String text) {
        JsonParser parser = new JsonParser(text);
        Object value = parser.value();
        parser.space();
        if (parser.position < text.length()) {
            throw parser.failure("the end");
        }
        return value;
    }

    /**
     * Reads an object.
     *
     * @throws IllegalArgumentException also if it is another value
     */
    public static Map<?, ?> parseObject(String text) {
        if (parse(text) instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException("not a JSON object: " + text);
    }

    private IllegalArgumentException failure(String wanted) {
        return new IllegalArgumentException(
                "not JSON: " + wanted + " is missing at character " + position + " of " + text.length());
    }

    private void space() {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private char peek() {
        space();
        return position < text.length() ? text.charAt(position) : '\0';
    }

    private void take(char wanted) {
        if (peek() != wanted) {
            throw failure("'" + wanted + "'");
        }
        position++;
    }

    private @Nullable Object value() {
        if (++depth > DEPTH_LIMIT) {
            throw failure("an end of all that is open");
        }
        try {
            return switch (peek()) {
                case '{' -> object();
                case '[' -> array();
                case '"' -> string();
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> number();
            };
        } finally {
            depth--;
        }
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, position)) {
            throw failure(word);
        }
        position += word.length();
        return value;
    }

    private Map<String, @Nullable Object> object() {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        take('{');
        while (peek() != '}') {
            if (!map.isEmpty()) {
                take(',');
                space();
            }
            String key = string();
            take(':');
            map.put(key, value());
        }
        take('}');
        return map;
    }

    private List<@Nullable Object> array() {
        List<@Nullable Object> list = new ArrayList<>();
        take('[');
        while (peek() != ']') {
            if (!list.isEmpty()) {
                take(',');
            }
            list.add(value());
        }
        take(']');
        return list;
    }

    private Double number() {
        int begin = position;
        while (position < text.length() && "+-.eE0123456789".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
        try {
            return Double.valueOf(text.substring(begin, position));
        } catch (NumberFormatException e) {
            position = begin;
            throw failure("a value");
        }
    }

    private String string() {
        take('"');
        StringBuilder value = new StringBuilder();
        while (true) {
            if (position >= text.length()) {
                throw failure("'\"'");
            }
            char c = text.charAt(position++);
            if (c == '"') {
                return value.toString();
            }
            value.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = position < text.length() ? text.charAt(position++) : '\0';
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> hexadecimal();
            default -> throw failure("an escape");
        };
    }

    private char hexadecimal() {
        try {
            char c = (char) Integer.parseInt(text, position, position + 4, 16);
            position += 4;
            return c;
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw failure("four hexadecimal digits");
        }
    }
}
