package io.rdma4j.tools;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a tool says for programs to read: its parameters as it took them, and its results. Printed as one JSON document
 * with {@code --json}, else nobody reads it. Thread safe.
 *
 * <p>A name carries its unit ({@code sizeBytes}, {@code elapsedSeconds}). Values are texts, numbers, booleans, lists and
 * maps of those, or null; they must not be changed afterwards. A value given again replaces the one before.
 */
public final class ToolReport {
    private final Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
    private final Map<String, @Nullable Object> results = new LinkedHashMap<>();

    /** Creates an empty report. */
    ToolReport() {}

    /** Tells a parameter. */
    public synchronized ToolReport parameter(String name, @Nullable Object value) {
        parameters.put(name, value);
        return this;
    }

    /** Tells a result. */
    public synchronized ToolReport result(String name, @Nullable Object value) {
        results.put(name, value);
        return this;
    }

    /**
     * The document.
     *
     * @param tool name of the tool, or null if none was named
     * @param arguments its command line, with the options of every tool
     * @param status its exit status as the shell sees it, or null if it was asked to end
     * @param reason why it has failed, or null if it has not
     */
    synchronized String json(
            @Nullable String tool, List<String> arguments, @Nullable Integer status, @Nullable String reason) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("tool", tool);
        document.put("arguments", new ArrayList<>(arguments));
        document.put("parameters", parameters);
        document.put("results", results);
        document.put("status", status);
        document.put("reason", reason);
        return Json.write(document);
    }
}
