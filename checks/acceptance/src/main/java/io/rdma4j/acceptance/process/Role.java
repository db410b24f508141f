package io.rdma4j.acceptance.process;

/** The code that a {@link Child} runs. The class needs a constructor without parameters. */
public interface Role {
    /**
     * Runs in the child's process. The process exits with status 0 when this method returns, and with 1 if it throws.
     *
     * @throws Exception if the role failed; its text is reported to the parent
     */
    void run(Parent parent) throws Exception;
}
