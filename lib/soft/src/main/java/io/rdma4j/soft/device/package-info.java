/** The verbs objects of the software device. Not exported. */
package io.rdma4j.soft.device;
