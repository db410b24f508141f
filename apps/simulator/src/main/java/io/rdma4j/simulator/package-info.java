/** Seeded runs of random work over a virtual network, checked against a sequential model of memory and completions. */
package io.rdma4j.simulator;
