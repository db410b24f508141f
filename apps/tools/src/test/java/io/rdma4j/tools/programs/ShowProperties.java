package io.rdma4j.tools.programs;

/** Prints system properties. */
public final class ShowProperties {
    private ShowProperties() {}

    /** Prints the value of each property that an argument names. */
    public static void main(String[] names) {
        for (String name : names) {
            System.out.println(System.getProperty(name));
        }
    }
}
