/** The events that the software device writes for Java Flight Recorder. */
package io.rdma4j.soft.events;
