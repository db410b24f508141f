package io.rdma4j.tools.command;

/** The tools that warm up before they run. */
public enum WarmUpChoice {
    /** No tool. */
    NEVER,
    /** The tools that measure. */
    IF_MEASURING,
    /** All tools that can, also {@code rping}. */
    ALWAYS
}
