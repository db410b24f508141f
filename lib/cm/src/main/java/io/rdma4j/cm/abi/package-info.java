/**
 * The commands of the kernel's connection manager, {@code /dev/infiniband/rdma_cm}, version 4, as numbers and offsets, and
 * the translation of their structures from and to the objects of {@code io.rdma4j.cm}. For the modules that send these commands
 * or answer them. {@code AbiTest} of {@code hardware} compares the numbers with the header files.
 */
package io.rdma4j.cm.abi;
