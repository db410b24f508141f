/**
 * The structures of libibverbs as numbers (offsets, sizes, and values of enumerations), and their translation from and to
 * the objects of {@code io.rdma4j.verbs}. For the modules that call libibverbs or are called as if they were it.
 * A software device uses {@link io.rdma4j.verbs.abi.MemoryAccess}, {@link
 * io.rdma4j.verbs.abi.RevocableRegion} and {@link io.rdma4j.verbs.abi.BatchPosting} only.
 *
 * <p>The numbers are written by hand. {@code AbiTest} of {@code hardware} compiles a C program against the header files of
 * libibverbs and compares every number that has an annotation. The numbers are the same on x86-64 and arm64, except what
 * follows a mutex in a structure; see {@link io.rdma4j.verbs.abi.Context}.
 */
package io.rdma4j.verbs.abi;
