/**
 * The structures of libibverbs as offsets, sizes and values of enumerations. The package also translates between them
 * and the objects of {@code io.rdma4j.verbs}. It is for the modules that call libibverbs, or that C programs call
 * instead of libibverbs. A software device only uses {@link io.rdma4j.verbs.abi.MemoryAccess},
 * {@link io.rdma4j.verbs.abi.RevocableRegion} and {@link io.rdma4j.verbs.abi.BatchPosting}.
 *
 * <p>{@link io.rdma4j.verbs.abi.VerbsStructures} is the table of the structures. {@code CLayoutsTest} of {@code rules}
 * compares it, and every number with an annotation, with the header files. The numbers are the same on x86-64 and
 * arm64, except the offsets after a mutex in a structure; see
 * {@link io.rdma4j.verbs.abi.VerbsStructures.Context}.
 */
package io.rdma4j.verbs.abi;
