package io.rdma4j.tools.cmtime;

/** The steps that the classic form times for a connection, in the order of its table. */
enum ClassicStep {
    CREATE_ID("create id"),
    BIND("bind addr"),
    RESOLVE_ADDRESS("resolve addr"),
    RESOLVE_ROUTE("resolve route"),
    CREATE_QUEUE_PAIR("create qp"),
    CONNECT("connect"),
    DISCONNECT("disconnect"),
    DESTROY("destroy");

    private final String text;

    ClassicStep(String text) {
        this.text = text;
    }

    /** Returns the name in the table. */
    String text() {
        return text;
    }
}
