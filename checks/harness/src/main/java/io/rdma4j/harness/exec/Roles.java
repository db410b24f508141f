package io.rdma4j.harness.exec;

import java.util.List;

/**
 * The programs of client and server.
 *
 * @param client the client's program
 * @param server the server's program
 */
record Roles(Language client, Language server) {
    /** The implementation of a tool. */
    enum Language {
        /** The C program, by {@code rdma4j exec}. */
        C("C"),
        /** This project's tool of the same name. */
        JAVA("Java");

        private final String text;

        Language(String text) {
            this.text = text;
        }
    }

    static final Roles C_WITH_C = new Roles(Language.C, Language.C);
    static final Roles C_WITH_JAVA = new Roles(Language.C, Language.JAVA);
    static final Roles JAVA_WITH_C = new Roles(Language.JAVA, Language.C);

    /** All combinations with at least one C program. */
    static final List<Roles> ALL = List.of(C_WITH_C, C_WITH_JAVA, JAVA_WITH_C);

    /** Returns the language of one side. */
    Language of(Side side) {
        return side == Side.CLIENT ? client : server;
    }

    @Override
    public String toString() {
        return client.text + "->" + server.text;
    }
}
