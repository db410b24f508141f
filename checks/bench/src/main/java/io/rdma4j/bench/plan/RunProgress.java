package io.rdma4j.bench.plan;

import java.io.PrintStream;

/** Reports the progress of a run: on a terminal by a line that changes, otherwise by a line for each repetition. */
public final class RunProgress {
    private static final int WIDTH = 110;

    private final PrintStream out;
    private final boolean terminal;
    private String repetition = "";

    /**
     * Creates a progress report.
     *
     * @param out stream to print to
     * @param terminal true if the stream is a terminal
     */
    public RunProgress(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    void repetition(int number, int of) {
        repetition = "repetition " + number + " of " + of;
        if (!terminal) {
            out.println(repetition);
        }
    }

    void experiment(int number, int of, String what) {
        if (terminal) {
            line("%s, %d of %d: %s".formatted(repetition, number, of, what));
        }
    }

    /** Prints a permanent line. */
    void note(String text) {
        if (terminal) {
            line("");
            out.print('\r');
        }
        out.println(text);
    }

    /** Clears the line. */
    void end() {
        if (terminal) {
            line("");
            out.print('\r');
            out.flush();
        }
    }

    private void line(String text) {
        String cut = text.length() > WIDTH ? text.substring(0, WIDTH) : text;
        out.print("\r" + cut + " ".repeat(WIDTH - cut.length()));
        out.flush();
    }
}
