/** rdma4j doctor: reports the RDMA environment of this machine. */
package io.rdma4j.tools.doctor;
