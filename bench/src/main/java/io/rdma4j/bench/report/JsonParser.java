package io.rdma4j.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses JSON (RFC 8259): objects as {@link Map}, arrays as {@link List}, numbers as {@link Double}. */
public final class JsonParser {
    private static final int DEPTH_LIMIT = 64;

    private final String text;
    private int position;
    private int depth;

    private JsonParser(String text) {
        this.text = text;
    }

    /**
     * Parses a text that consists of one value.
     *
     * @throws IllegalArgumentException if it is not JSON; the message names the position
     */
    public static @Nullable Object parse(String text) {
        JsonParser parser = new JsonParser(text);
        Object value = parser.value();
        parser.skipSpace();
        if (parser.position < text.length()) {
            throw parser.failure("the end");
        }
        return value;
    }

    /**
     * Parses a text that consists of one object.
     *
     * @throws IllegalArgumentException if it is not JSON, or another value
     */
    public static Map<?, ?> parseObject(String text) {
        if (parse(text) instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException("not a JSON object: " + text);
    }

    private IllegalArgumentException failure(String expected) {
        return new IllegalArgumentException(
                "not JSON: " + expected + " is missing at character " + position + " of " + text.length());
    }

    private void skipSpace() {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private char peek() {
        skipSpace();
        return position < text.length() ? text.charAt(position) : '\0';
    }

    private void expect(char expected) {
        if (peek() != expected) {
            throw failure("'" + expected + "'");
        }
        position++;
    }

    private @Nullable Object value() {
        if (++depth > DEPTH_LIMIT) {
            throw failure("a closing bracket (the nesting is too deep)");
        }
        try {
            return switch (peek()) {
                case '{' -> object();
                case '[' -> array();
                case '"' -> string();
                case 't' -> literal("true", true);
                case 'f' -> literal("false", false);
                case 'n' -> literal("null", null);
                default -> number();
            };
        } finally {
            depth--;
        }
    }

    private @Nullable Object literal(String literal, @Nullable Object value) {
        if (!text.startsWith(literal, position)) {
            throw failure(literal);
        }
        position += literal.length();
        return value;
    }

    private Map<String, @Nullable Object> object() {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        expect('{');
        while (peek() != '}') {
            if (!map.isEmpty()) {
                expect(',');
                skipSpace();
            }
            String key = string();
            expect(':');
            map.put(key, value());
        }
        expect('}');
        return map;
    }

    private List<@Nullable Object> array() {
        List<@Nullable Object> list = new ArrayList<>();
        expect('[');
        while (peek() != ']') {
            if (!list.isEmpty()) {
                expect(',');
            }
            list.add(value());
        }
        expect(']');
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
        expect('"');
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
