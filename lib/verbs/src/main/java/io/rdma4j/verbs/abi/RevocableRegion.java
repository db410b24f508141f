package io.rdma4j.verbs.abi;

/**
 * A memory region of a device that does not pin memory: its owner, a program in C, may unmap or replace it while it is registered.
 * Thread safe.
 */
public interface RevocableRegion {
    /**
     * Ends access to the memory, or allows it again. The region stays registered under its keys, and windows stay bound to it. Without
     * access, requests of peers are refused, also through windows, and work requests complete with {@link
     * io.rdma4j.value.CompletionStatus#LOCAL_PROTECTION_ERROR}. When the call returns, nobody accesses the memory any more.
     */
    void setAccessible(boolean accessible);
}
