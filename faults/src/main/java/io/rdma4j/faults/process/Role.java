package io.rdma4j.faults.process;

/** What a {@link Child} does: a class with a constructor without arguments. */
public interface Role {
    /**
     * Plays it in the child's process, which ends when this returns, with status 0, or 1 if it throws.
     *
     * @throws Exception if something went wrong: the parent gets its words
     */
    void play(Parent parent) throws Exception;
}
