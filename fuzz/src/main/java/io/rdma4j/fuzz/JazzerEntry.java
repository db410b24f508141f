package io.rdma4j.fuzz;

/** Where Jazzer comes in: {@code --target_class=io.rdma4j.fuzz.JazzerEntry --target_args=F1}. */
public final class JazzerEntry {
    private static FuzzTarget target = new BoundedMemory(KnownTarget.F1.make());

    private JazzerEntry() {}

    /**
     * Chooses the target.
     *
     * @param arguments the name of one of {@link KnownTarget}
     */
    public static void fuzzerInitialize(String[] arguments) {
        target = new BoundedMemory(KnownTarget.valueOf(arguments[0]).make());
    }

    /** Runs the target over one input. */
    public static void fuzzerTestOneInput(byte[] input) {
        target.run(input);
    }
}
