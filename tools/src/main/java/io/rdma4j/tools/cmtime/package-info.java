/** The tool that opens many connections and tells how long each step of it took: cmtime. */
package io.rdma4j.tools.cmtime;
