/** The state that the processes of one user on one host share: run directory, slots and RDMA ports. Not exported. */
package io.rdma4j.soft.share;
