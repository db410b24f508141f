package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.tools.Explanation;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.RdmaException;

/**
 * What these tools print: the lines of the C tools, and behind a line that only names an error one on standard error that
 * explains it.
 */
public final class MessageReport {
    private final ToolEnvironment environment;
    private final String tool;
    private volatile boolean silent;

    /**
     * Creates a report.
     *
     * @param environment where it prints
     * @param tool what the C tool's lines begin with
     */
    public MessageReport(ToolEnvironment environment, String tool) {
        this.environment = environment;
        this.tool = tool;
    }

    /** Prints nothing any more: the process was asked to end, and the C tool would be gone. */
    public void silence() {
        silent = true;
    }

    /** A line of the C tool. */
    public void line(String text) {
        if (!silent) {
            environment.out().println(text);
        }
    }

    /** A line of the C tool on standard error. */
    public void errorLine(String text) {
        if (!silent) {
            environment.err().println(text);
        }
    }

    /** A line of the C tool that begins with its name. */
    public void step(String text) {
        line(tool + ": " + text);
    }

    /** The line of {@code perror}, and the explanation. */
    public void failure(String what, RdmaException cause) {
        errorLine(what + ": " + cause.errno().text());
        explain(Explanation.of(cause));
    }

    /** The same behind the name of the tool. */
    public void stepFailure(String what, RdmaException cause) {
        failure(tool + ": " + what, cause);
    }

    /** An event that ends a connection before it is there. */
    void errorEvent(CmEvent event) {
        step("event: " + event.type().text() + ", error: " + event.status());
        explain(event.explanation());
    }

    /** What happened, in words that the C tool does not have. */
    public void explain(String text) {
        if (!text.isBlank()) {
            errorLine(tool + ": " + text);
        }
    }
}
