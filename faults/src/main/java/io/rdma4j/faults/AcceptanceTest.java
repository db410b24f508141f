package io.rdma4j.faults;

/**
 * One row of the table: a property with a figure. Made anew for each run; used by one thread.
 *
 * <p>A test leaves nothing behind: no process, no namespace, no file outside its folder. It sends only to loopback or to
 * hosts that it made itself, and ends by itself.
 */
public interface AcceptanceTest {
    /** Its number in {@code docs/acceptance-tests.md}; a number may have several rows. */
    int number();

    /** A few words, unique: {@code integrity under loss}. */
    String title();

    /** The figure that is asked at this scale. */
    String asked(Scale scale);

    /** Whether it makes network namespaces or reads what only root may. */
    default boolean needsRoot() {
        return false;
    }

    /** The longest that it may take, in seconds; after it the row fails. */
    default int limitSeconds(Scale scale) {
        return scale.of(240, 2 * 3600);
    }

    /**
     * Runs it.
     *
     * @throws Exception if something went wrong that is no figure; the row fails with its message
     */
    Outcome run(TestStage stage) throws Exception;
}
