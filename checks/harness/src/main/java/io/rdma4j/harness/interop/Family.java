package io.rdma4j.harness.interop;

/** The kind of address by which a client reaches its server. */
enum Family {
    /** IPv4. */
    V4("v4"),
    /** IPv6. */
    V6("v6"),
    /** Link-local, with the interface. */
    LL("ll"),
    /** The link-local address that two interfaces have, on the second one. */
    TWIN("twin"),
    /** The IPv4 loopback address. */
    LO4("lo4"),
    /** The IPv6 loopback address. */
    LO6("lo6");

    private final String text;

    Family(String text) {
        this.text = text;
    }

    /** Returns the word in the names of cases. */
    @Override
    public String toString() {
        return text;
    }
}
