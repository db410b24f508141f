package io.rdma4j.acceptance;

/**
 * An acceptance test: a property with a required figure, which is one row of the table. Each run uses a new instance,
 * from one thread.
 *
 * <p>A test leaves behind no process, no namespace, and no file outside its folder. It sends only to loopback or to
 * hosts that it created, and terminates by itself.
 */
public interface AcceptanceTest {
    /** Returns the number of the test in {@code docs/acceptance-tests.md}. Several tests may share a number. */
    int number();

    /** Returns a short, unique title, such as {@code integrity under loss}. */
    String title();

    /** Returns the figure that is required at this scale. */
    String required(Scale scale);

    /** Returns whether the test creates network namespaces or reads what only root may read. */
    default boolean needsRoot() {
        return false;
    }

    /** Returns the time limit in seconds. A test that exceeds it fails. */
    default int limitSeconds(Scale scale) {
        return scale.of(240, 2 * 3600);
    }

    /**
     * Runs the test.
     *
     * @throws Exception if something other than a figure failed; the test then fails with the exception's message
     */
    Outcome run(TestStage stage) throws Exception;
}
