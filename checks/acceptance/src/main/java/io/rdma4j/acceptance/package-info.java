/**
 * The acceptance tests of reliability and security ({@code checks/acceptance/run}, {@code docs/acceptance-tests.md}). One
 * table shows the required figure, the measured figure and the verdict of each test.
 *
 * <p>Each test is a class of {@link io.rdma4j.acceptance.cases} that implements {@link io.rdma4j.acceptance.AcceptanceTest} and
 * is listed in {@link io.rdma4j.acceptance.AcceptanceTests}. Three packages support the tests: {@link
 * io.rdma4j.acceptance.hosts} creates hosts as network namespaces and damages the traffic between them; {@link
 * io.rdma4j.acceptance.process} starts, controls, stops and kills processes on these hosts; {@link
 * io.rdma4j.acceptance.traffic} contains the code that these processes run.
 */
@NullMarked
package io.rdma4j.acceptance;

import org.jspecify.annotations.NullMarked;
