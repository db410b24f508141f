/** The floor: what a UDP socket driven from Java by system calls reaches on this machine, with no protocol on it. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.raw;
