package io.rdma4j.soft.device;

import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.value.AccessFlag;
import java.util.Set;

/**
 * The current properties of a memory region.
 *
 * @param domain the protection domain
 * @param access the rights
 * @param region the region of the transport
 */
record SoftRegistration(SoftProtectionDomain domain, Set<AccessFlag> access, MemoryRegion region) {}
