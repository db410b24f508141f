package io.rdma4j.acceptance;

/**
 * An acceptance test: a property with a required figure, which is one row of the table.
 *
 * <p>A test leaves behind no process, no namespace, and no file outside its folder. It sends only to loopback or to
 * hosts that it created, and terminates by itself.
 *
 * @param number its number in {@code docs/acceptance-tests.md}; several tests may share one
 * @param title a short, unique title, such as {@code integrity under loss}
 * @param needsRoot true if it creates network namespaces or reads what only root may read
 * @param quickSeconds the time limit of the quick form; a test that exceeds it fails
 * @param fullSeconds the time limit of the full form
 * @param body the content
 */
public record AcceptanceTest(
        int number, String title, boolean needsRoot, int quickSeconds, int fullSeconds, Body body) {
    private static final int QUICK_SECONDS = 240;
    private static final int FULL_SECONDS = 7200;

    /** The content of a test. Used by one thread, for one run. */
    public interface Body {
        /** Returns the figure that is required at this scale. */
        String required(Scale scale);

        /**
         * Runs the test.
         *
         * @throws Exception if something other than a figure failed; the test then fails with the exception's message
         */
        Outcome run(TestStage stage) throws Exception;
    }

    /** Returns a test that any user can run, with the default time limit. */
    static AcceptanceTest forAnyone(int number, String title, Body body) {
        return new AcceptanceTest(number, title, false, QUICK_SECONDS, FULL_SECONDS, body);
    }

    /** Returns a test that root must run, with the default time limit. */
    static AcceptanceTest forRoot(int number, String title, Body body) {
        return new AcceptanceTest(number, title, true, QUICK_SECONDS, FULL_SECONDS, body);
    }

    /** Returns this test with other time limits. */
    AcceptanceTest within(int quick, int full) {
        return new AcceptanceTest(number, title, needsRoot, quick, full, body);
    }
}
