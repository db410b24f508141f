/** A program that uses the verbs and the connection manager over the software device. */
module org.example.hello {
    requires io.rdma4j;
}
