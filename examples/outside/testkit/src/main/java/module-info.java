/** The module under test. Maven runs the tests on the module path because of it, and on the class path without it. */
module org.example.app {
    requires io.rdma4j;
}
