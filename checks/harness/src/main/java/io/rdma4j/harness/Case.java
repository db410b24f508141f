package io.rdma4j.harness;

import java.io.IOException;
import java.time.Duration;

/**
 * A case: something that is started, done and expected.
 *
 * @param name its name in the table and in {@code --only}
 * @param roles the programs of client and server, such as {@code C->Java} for a client in C and a server in Java
 * @param expected the expected result in a few words for the table, or an empty text
 * @param extent the runs that have it
 * @param limit the maximum time of each of its processes
 * @param body the content
 */
public record Case(String name, String roles, String expected, Extent extent, Duration limit, Body body) {
    /** The runs that have a case. */
    public enum Extent {
        /** All runs, also with {@code --quick}. */
        QUICK,
        /** All runs without {@code --quick}. */
        FULL,
        /** Only runs with {@code --full}: it takes minutes. */
        LONG
    }

    /** The content of a case. */
    @FunctionalInterface
    public interface Body {
        /**
         * Runs the case.
         *
         * @throws CaseFailure if something differs from what is expected
         */
        void run(Stage stage) throws CaseFailure, IOException, InterruptedException;
    }

    /**
     * The content of a case that a peer cannot run: it is listed and counted, but not as passed.
     *
     * @param reason the missing precondition
     */
    public record Impossible(String reason) implements Body {
        @Override
        public void run(Stage stage) throws CaseFailure {
            throw new CaseFailure(reason);
        }
    }

    /** Creates a case without a text about its result. */
    public Case(String name, String roles, boolean isQuick, Duration limit, Body body) {
        this(name, roles, "", isQuick ? Extent.QUICK : Extent.FULL, limit, body);
    }

    /** Returns whether {@code --quick} runs it. */
    public boolean isQuick() {
        return extent == Extent.QUICK;
    }

    /** Returns the name and the roles, which identify it. */
    public String title() {
        return name + " " + roles;
    }
}
