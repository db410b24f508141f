/**
 * The cases of {@code checks/interop/run}: the C tools of a Linux guest, over its kernel's RDMA device, against this project's
 * tools and against C programs by {@code rdma4j exec}, and this project's tools between processes and hosts. Each class has the
 * cases of one family of tools.
 */
@NullMarked
package io.rdma4j.harness.interop;

import org.jspecify.annotations.NullMarked;
