package io.rdma4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;

/**
 * The entry point of the agent's jar (decision 039). It is compiled for Java 8, so that an older Java prints a message
 * instead of an UnsupportedClassVersionError.
 */
public final class Premain {
    private static final int REQUIRED_JAVA = 25;

    private Premain() {}

    /** Starts the agent of the sockets module. Exits the virtual machine if the agent cannot start. */
    public static void premain(String arguments, Instrumentation instrumentation) throws ReflectiveOperationException {
        String java = System.getProperty("java.specification.version");
        int version = java.startsWith("1.") ? Integer.parseInt(java.substring(2)) : Integer.parseInt(java);
        if (version < REQUIRED_JAVA) {
            fail("this is Java " + version + " (" + System.getProperty("java.home") + "): RDMA needs Java "
                    + REQUIRED_JAVA + " or newer. Set JAVA_HOME or PATH to one, or start the program without the"
                    + " agent");
        }
        try {
            Class.forName("io.rdma4j.sockets.SocketsAgent")
                    .getMethod("premain", String.class, Instrumentation.class)
                    .invoke(null, arguments, instrumentation);
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IllegalArgumentException || cause instanceof IllegalStateException) {
                fail(cause.getMessage());
            }
            throw e;
        }
    }

    private static void fail(String message) {
        System.err.println("rdma4j: " + message);
        System.exit(1);
    }
}
