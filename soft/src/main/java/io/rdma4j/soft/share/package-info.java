/** What processes of one user on one host share: the run directory, slots and RDMA ports. Not exported. */
package io.rdma4j.soft.share;
