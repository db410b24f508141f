package io.rdma4j.bench.worker;

/**
 * A measurement by two processes.
 *
 * <p>Both get the same parameters. A {@link Control} connects them, which is not measured.
 */
public interface PairTest {
    /** Runs the passive side. Returns when the active side has finished. */
    void serve(Control control, Parameters parameters) throws Exception;

    /** Runs the active side, which measures. */
    void drive(Control control, Parameters parameters, Figures figures) throws Exception;
}
