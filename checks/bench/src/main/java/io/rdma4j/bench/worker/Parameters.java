package io.rdma4j.bench.worker;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** The parameters of a measurement, which are passed as arguments {@code name=value} on a command line. Immutable. */
public final class Parameters {
    private final Map<String, String> values;

    private Parameters(Map<String, String> values) {
        this.values = values;
    }

    /** Creates parameters from {@code name, value, name, value, …}. */
    public static Parameters of(Object... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("names and values come in pairs");
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            values.put(namesAndValues[i].toString(), namesAndValues[i + 1].toString());
        }
        return new Parameters(values);
    }

    /** Parses the result of {@link #words}. */
    public static Parameters parse(List<String> words) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals <= 0) {
                throw new IllegalArgumentException("\"" + word + "\" is not of the form name=value");
            }
            values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return new Parameters(values);
    }

    /** Calls an action with the name and value of each parameter, in their order. */
    void forEach(BiConsumer<String, String> action) {
        values.forEach(action);
    }

    /** Returns these parameters and another one, which replaces one of the same name. */
    public Parameters with(String name, Object value) {
        Map<String, String> changed = new LinkedHashMap<>(values);
        changed.put(name, value.toString());
        return new Parameters(changed);
    }

    /** Returns the parameters as arguments of a command line. */
    public List<String> words() {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .toList();
    }

    /** Returns a text. */
    public String text(String name, String defaultValue) {
        return values.getOrDefault(name, defaultValue);
    }

    /** Returns a number. */
    public int number(String name, int defaultValue) {
        String value = values.get(name);
        return value == null ? defaultValue : Integer.parseInt(value);
    }

    /** Returns whether a parameter is {@code true}. */
    public boolean flag(String name) {
        return Boolean.parseBoolean(values.get(name));
    }

    /** Returns the minimum warm-up time in nanoseconds. */
    public long warmUpNanos() {
        return Math.min(number("warmUpMillis", 500) * 1_000_000L, longestWarmUpNanos());
    }

    /** Returns the maximum warm-up time in nanoseconds. */
    public long longestWarmUpNanos() {
        return number("longestWarmUpMillis", 4000) * 1_000_000L;
    }

    /** Returns the measuring time in nanoseconds. */
    public long measureNanos() {
        return number("measureMillis", 500) * 1_000_000L;
    }

    @Override
    public String toString() {
        return String.join(" ", words());
    }
}
