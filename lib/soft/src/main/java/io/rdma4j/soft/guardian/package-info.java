/** The guardian of a user: disconnects the peers of processes that have ended, as a kernel would. */
package io.rdma4j.soft.guardian;
