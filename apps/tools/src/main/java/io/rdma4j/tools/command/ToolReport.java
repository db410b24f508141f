package io.rdma4j.tools.command;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A machine-readable report of a tool's effective parameters and its results. Thread safe.
 *
 * <p>It is printed as one JSON document with {@code --json}.
 *
 * <p>A name contains its unit ({@code sizeBytes}, {@code elapsedSeconds}). Values are strings, numbers, booleans, null,
 * or lists and maps of these, and must not be changed afterwards. A later value replaces an earlier one of the same
 * name.
 */
public final class ToolReport {
    private final Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
    private final Map<String, @Nullable Object> results = new LinkedHashMap<>();

    /** Creates an empty report. */
    ToolReport() {}

    /** Adds a parameter. */
    public synchronized ToolReport parameter(String name, @Nullable Object value) {
        parameters.put(name, value);
        return this;
    }

    /** Adds a result. */
    public synchronized ToolReport result(String name, @Nullable Object value) {
        results.put(name, value);
        return this;
    }

    /**
     * Returns the report as a JSON document.
     *
     * @param tool the name of the tool, or null if none was named
     * @param arguments its command line, including the options of all tools
     * @param counters the counters of the software device; empty if the tool has not used it
     * @param status its exit status as the shell sees it, or null if a signal ended the process
     * @param reason the reason for a failure, or null for success
     */
    public synchronized String json(
            @Nullable String tool,
            List<String> arguments,
            Map<String, Long> counters,
            @Nullable Integer status,
            @Nullable String reason) {
        Map<String, @Nullable Object> document = new LinkedHashMap<>();
        document.put("tool", tool);
        document.put("arguments", new ArrayList<>(arguments));
        document.put("parameters", parameters);
        document.put("results", results);
        document.put("counters", counters);
        document.put("status", status);
        document.put("reason", reason);
        return Json.write(document);
    }
}
