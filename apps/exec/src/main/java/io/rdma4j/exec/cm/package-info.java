/**
 * The device file {@code /dev/infiniband/rdma_cm} of a program in C: the commands of version 4 of its ABI, over a provider of
 * {@code io.rdma4j.cm.spi}. The program's own librdmacm sends them, as it would to Linux's {@code rdma_ucm}.
 *
 * <p>{@code CmCalls} takes the calls of C. {@code CmFiles} has the numbers of identifiers and groups, and {@code CmFile} the
 * events of one open file. {@code Commands} executes a command, with {@code Request} for its structure. An {@code
 * Identifier} receives the events of the provider. The structures are in {@code io.rdma4j.cm.abi}.
 *
 * <p>Two kinds of locks exist. Commands of one identifier exclude each other by the identifier's lock, under which the
 * provider is called. The lock of {@code CmFiles} guards numbers and events. The provider reports events under locks of its
 * own, so nothing calls the provider under the lock of {@code CmFiles}.
 */
package io.rdma4j.exec.cm;
