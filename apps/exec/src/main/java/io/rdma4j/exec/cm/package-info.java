/**
 * The device file {@code /dev/infiniband/rdma_cm} of a C program: the commands of version 4 of its ABI, over a provider
 * of {@code io.rdma4j.cm.spi}. The program's librdmacm sends them, as it does to Linux's {@code rdma_ucm}.
 *
 * <p>C calls {@code CmCalls}. {@code CmFiles} assigns the numbers of identifiers and groups, and {@code CmFile} has the
 * events of one open file. {@code Commands} executes a command, and {@code Request} reads it. An {@code Identifier}
 * receives the events of the provider. The structures are in {@code io.rdma4j.cm.abi}.
 *
 * <p>There are two kinds of locks. A command holds the lock of its identifier while it calls the provider. The lock of
 * {@code CmFiles} guards numbers and events. The provider holds its own locks while it reports an event, so no method
 * may call it with the lock of {@code CmFiles}, except for its wait driver.
 */
package io.rdma4j.exec.cm;
