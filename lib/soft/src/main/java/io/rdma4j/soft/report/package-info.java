/** The statistics of a stack, which other processes of the same user can request: queue pairs, devices and their counters. */
package io.rdma4j.soft.report;
