package io.rdma4j.harness.interop;

import io.rdma4j.harness.Case.Extent;

/**
 * Adds cases with the same roles.
 *
 * @param cases receives them
 * @param roles the sides of server and client
 * @param seconds the limit of each process, unless a case has its own
 */
record Rows(InteropCases cases, Roles roles, int seconds) {
    /** Adds a case that {@code --quick} does not run. */
    void add(String name, String expected, InteropCases.Body body) {
        add(name, expected, Extent.FULL, body);
    }

    void add(String name, String expected, Extent extent, InteropCases.Body body) {
        add(name, expected, extent, seconds, body);
    }

    void add(String name, String expected, Extent extent, int limitSeconds, InteropCases.Body body) {
        cases.add(name, roles, expected, extent, limitSeconds, body);
    }

    /** Adds a case that the peer cannot run. */
    void cannot(String name, String reason) {
        cases.cannot(name, roles, Extent.QUICK, reason);
    }

    /** Returns whether the server is Java and the client C: what both roles share is defined once, with these. */
    boolean hasJavaServer() {
        return roles.server() == Side.HOST;
    }
}
