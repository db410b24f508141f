package io.rdma4j.verbs.abi;

/**
 * A memory region of a device that does not pin memory. Its owner, a C program, may unmap or replace the memory while
 * it is registered. Thread safe.
 */
public interface RevocableRegion {
    /**
     * Revokes access to the memory, or allows it again. The region stays registered under its keys, and windows stay
     * bound to it. Without access, requests of peers are refused, including requests through windows, and work requests
     * complete with {@link io.rdma4j.value.CompletionStatus#LOCAL_PROTECTION_ERROR}. After the call, the device no
     * longer accesses the memory.
     */
    void setAccessible(boolean accessible);
}
