/** Processes of a test, which the test starts on a host, controls, stops and kills. */
@NullMarked
package io.rdma4j.acceptance.process;

import org.jspecify.annotations.NullMarked;
