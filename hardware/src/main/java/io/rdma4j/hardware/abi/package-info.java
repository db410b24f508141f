/**
 * The structures of libibverbs as numbers: offsets, sizes, and values of enumerations.
 *
 * <p>They are written by hand. {@code AbiTest} compiles a C program against the header files of libibverbs and compares
 * every number that has an annotation. The numbers are the same on x86-64 and arm64, except what follows a mutex in a
 * structure; see {@link io.rdma4j.hardware.abi.Context}.
 */
package io.rdma4j.hardware.abi;
