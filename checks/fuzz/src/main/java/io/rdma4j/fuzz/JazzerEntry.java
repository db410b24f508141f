package io.rdma4j.fuzz;

/** The entry point of Jazzer: {@code --target_class=io.rdma4j.fuzz.JazzerEntry --target_args=F1}. */
public final class JazzerEntry {
    private static FuzzTarget target = new BoundedMemory(KnownTarget.F1.create());

    private JazzerEntry() {}

    /**
     * Selects the target.
     *
     * @param arguments the name of a {@link KnownTarget}
     */
    public static void fuzzerInitialize(String[] arguments) {
        target = new BoundedMemory(KnownTarget.valueOf(arguments[0]).create());
    }

    /** Runs the target with one input. */
    public static void fuzzerTestOneInput(byte[] input) {
        target.run(input);
    }
}
