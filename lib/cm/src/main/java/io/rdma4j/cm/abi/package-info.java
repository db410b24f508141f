/**
 * The commands of the kernel's connection manager as numbers and offsets: {@code /dev/infiniband/rdma_cm}, version 4.
 * The package also translates between their structures and the objects of {@code io.rdma4j.cm}. It is for the modules
 * that send or answer these commands. {@code CLayoutsTest} of {@code rules} compares structures and numbers with the
 * header files.
 */
package io.rdma4j.cm.abi;
