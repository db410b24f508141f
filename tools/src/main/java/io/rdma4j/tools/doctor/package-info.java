/** What this machine offers for RDMA, and what stands in the way. */
package io.rdma4j.tools.doctor;
