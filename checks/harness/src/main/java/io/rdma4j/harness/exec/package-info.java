/**
 * The cases of {@code apps/exec/run}: unmodified C programs by {@code rdma4j exec}, against each other and against this project's
 * tools, as an ordinary user on two hosts.
 */
@NullMarked
package io.rdma4j.harness.exec;

import org.jspecify.annotations.NullMarked;
