package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.tools.command.Explanation;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.RdmaException;

/** Prints the lines of the C tools and, after a line that only names an error, an explanation on standard error. */
public final class MessageReport {
    private final ToolEnvironment environment;
    private final String tool;
    private volatile boolean silent;

    /**
     * Creates a report.
     *
     * @param environment the output streams
     * @param tool the prefix of the C tool's lines
     */
    public MessageReport(ToolEnvironment environment, String tool) {
        this.environment = environment;
        this.tool = tool;
    }

    /** Suppresses further output after a signal, because the C tool would have exited. */
    public void silence() {
        silent = true;
    }

    /** Prints a line of the C tool. */
    public void line(String text) {
        if (!silent) {
            environment.out().println(text);
        }
    }

    /** Prints a line of the C tool on standard error. */
    public void errorLine(String text) {
        if (!silent) {
            environment.err().println(text);
        }
    }

    /** Prints a line of the C tool with its name as prefix. */
    public void step(String text) {
        line(tool + ": " + text);
    }

    /** Prints the line of {@code perror} and the explanation. */
    public void failure(String what, RdmaException cause) {
        errorLine(what + ": " + cause.errno().text());
        explain(Explanation.of(cause));
    }

    /** Prints the line of {@code perror} with the name of the tool as prefix, and the explanation. */
    public void stepFailure(String what, RdmaException cause) {
        failure(tool + ": " + what, cause);
    }

    /** Prints an event that reports a failure to connect, and its explanation. */
    void errorEvent(CmEvent event) {
        step("event: " + event.type().text() + ", error: " + event.status());
        explain(event.explanation());
    }

    /** Prints an explanation that the C tool does not have. */
    public void explain(String text) {
        if (!text.isBlank()) {
            errorLine(tool + ": " + text);
        }
    }
}
