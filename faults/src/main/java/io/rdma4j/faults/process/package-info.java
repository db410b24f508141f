/** Processes of a test, which the test starts on a host, controls, stops and kills. */
@NullMarked
package io.rdma4j.faults.process;

import org.jspecify.annotations.NullMarked;
