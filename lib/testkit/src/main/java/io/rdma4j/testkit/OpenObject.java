package io.rdma4j.testkit;

import java.util.List;

/**
 * An object of a stack that a program has not closed, such as a memory region or a queue pair. Immutable.
 *
 * @param description the kind of object, with its number or key
 * @param creation the stack of the thread that created it, from the innermost call; empty if it was created for a
 *     connection request that arrived from the network
 */
public record OpenObject(String description, List<StackTraceElement> creation) {
    /** The packages of the stack. The program's call is the first call outside these packages. */
    private static final List<String> OF_STACK =
            List.of("io.rdma4j.cm.", "io.rdma4j.soft.", "io.rdma4j.sockets.", "io.rdma4j.verbs.", "java.", "jdk.");

    /** The package of connections, which has other packages below it. */
    private static final String UPPER_LAYER = "io.rdma4j.";

    /** Copies the list. */
    public OpenObject {
        creation = List.copyOf(creation);
    }

    /** Returns the program's call that created the object, such as {@code ExampleTest.test(ExampleTest.java:42)}. */
    public String place() {
        return creation.isEmpty()
                ? "a connection request from the network"
                : creation.getFirst().toString();
    }

    /** Returns the program's calls in a stack trace, without the calls in rdma4j and Java at its start. */
    static List<StackTraceElement> callsOfProgram(StackTraceElement[] calls) {
        return List.of(calls).stream()
                .dropWhile(call -> isOfStack(call.getClassName()))
                .toList();
    }

    private static boolean isOfStack(String className) {
        boolean isOfUpperLayer = className.startsWith(UPPER_LAYER) && className.indexOf('.', UPPER_LAYER.length()) < 0;
        return isOfUpperLayer || OF_STACK.stream().anyMatch(className::startsWith);
    }

    @Override
    public String toString() {
        return description + ", created at " + place();
    }
}
