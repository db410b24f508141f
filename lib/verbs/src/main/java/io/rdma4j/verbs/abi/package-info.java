/**
 * The structures of libibverbs as offsets, sizes and values of enumerations. The package also translates between them
 * and the objects of {@code io.rdma4j.verbs}. It is for the modules that call libibverbs, or that C programs call
 * instead of libibverbs. A software device only uses {@link io.rdma4j.verbs.abi.MemoryAccess},
 * {@link io.rdma4j.verbs.abi.RevocableRegion} and {@link io.rdma4j.verbs.abi.BatchPosting}.
 *
 * <p>The numbers are written by hand. {@code AbiTest} of {@code hardware} compiles a C program against the header files
 * of libibverbs and compares every number that has an annotation. The numbers are the same on x86-64 and arm64, except
 * the offsets after a mutex in a structure; see {@link io.rdma4j.verbs.abi.Context}.
 */
package io.rdma4j.verbs.abi;
