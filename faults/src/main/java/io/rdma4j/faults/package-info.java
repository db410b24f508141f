/**
 * {@code interop/faults}: the acceptance tests of reliability and security ({@code docs/acceptance-tests.md}), each with
 * the figure that is asked, the figure that was measured, and whether it passed, in one table.
 *
 * <p>Each test is a class of {@link io.rdma4j.faults.cases} that implements {@link io.rdma4j.faults.AcceptanceTest} and
 * is listed in {@link io.rdma4j.faults.Catalogue}. What it needs comes from three drawers: {@link
 * io.rdma4j.faults.hosts} has hosts that are network namespaces, and ways to damage what goes between them; {@link
 * io.rdma4j.faults.process} starts processes on them, talks to them, stops and kills them; {@link
 * io.rdma4j.faults.traffic} has what those processes do.
 */
@NullMarked
package io.rdma4j.faults;

import org.jspecify.annotations.NullMarked;
