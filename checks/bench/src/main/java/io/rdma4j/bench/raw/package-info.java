/** The floor: UDP sockets driven from Java by system calls, without a protocol above them. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.raw;
