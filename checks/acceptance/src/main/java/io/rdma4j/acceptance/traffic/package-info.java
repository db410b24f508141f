/** The code that processes of tests run: they connect, transfer bytes that can be checked, and report the results. */
@NullMarked
package io.rdma4j.acceptance.traffic;

import org.jspecify.annotations.NullMarked;
