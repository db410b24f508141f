/**
 * Connection management by the kernel, through the commands of {@code /dev/infiniband/rdma_cm}.
 *
 * <p>{@code KernelCmProvider} opens the device file once. {@code KernelCm} sends commands that belong to no identifier,
 * reads the events and passes each to its identifier; {@code IdCommands} sends the commands of one identifier. The
 * structures' offsets are in {@code io.rdma4j.cm.abi}.
 */
package io.rdma4j.hardware.cm;
