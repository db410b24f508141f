package io.rdma4j.tools.cmtime;

/** The timed steps of a connection, in the order of the table. */
enum Step {
    FULL_CONNECT("full connect"),
    CREATE_ID("create id"),
    BIND("bind addr"),
    RESOLVE_ADDRESS("resolve addr"),
    RESOLVE_ROUTE("resolve route"),
    CREATE_QUEUE_PAIR("create qp"),
    INIT_ATTRIBUTES("init qp attr"),
    INIT("init qp"),
    READY_TO_RECEIVE_ATTRIBUTES("rtr qp attr"),
    READY_TO_RECEIVE("rtr qp"),
    READY_TO_SEND_ATTRIBUTES("rts qp attr"),
    READY_TO_SEND("rts qp"),
    CONNECT("cm connect"),
    ESTABLISH("establish"),
    DISCONNECT("disconnect"),
    DESTROY_ID("destroy id"),
    DESTROY_QUEUE_PAIR("destroy qp");

    private final String text;

    Step(String text) {
        this.text = text;
    }

    /** Returns the name in the table. */
    String text() {
        return text;
    }
}
