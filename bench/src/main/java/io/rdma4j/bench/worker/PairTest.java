package io.rdma4j.bench.worker;

/**
 * What two processes do to be measured. Both get the same parameters, and are connected by a {@link Control}, which is not
 * what is measured.
 */
public interface PairTest {
    /** The passive side. Returns when the other side is done. */
    void serve(Control control, Parameters parameters) throws Exception;

    /** The active side, which measures. */
    void drive(Control control, Parameters parameters, Figures figures) throws Exception;
}
