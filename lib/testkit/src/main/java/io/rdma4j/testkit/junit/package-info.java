/**
 * A JUnit extension that gives each test a separate network: {@link io.rdma4j.testkit.junit.RdmaFabric}. It works with
 * JUnit 6 and with JUnit 5.14.
 */
package io.rdma4j.testkit.junit;
