/**
 * The common parts of the checks of whole programs: hosts that are network namespaces, a Linux guest, processes with their output, and
 * cases with their table (decision 063). Requires Linux and root.
 */
@NullMarked
package io.rdma4j.harness;

import org.jspecify.annotations.NullMarked;
