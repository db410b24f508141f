package io.rdma4j.harness;

import java.io.IOException;
import java.time.Duration;

/**
 * A case: something that is started, done and expected.
 *
 * @param name its name in the table and in {@code --only}
 * @param roles the programs of client and server, such as {@code C->Java} for a client in C and a server in Java
 * @param isQuick true if {@code --quick} runs it
 * @param limit the maximum time of each of its processes
 * @param body the content
 */
public record Case(String name, String roles, boolean isQuick, Duration limit, Body body) {
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
}
