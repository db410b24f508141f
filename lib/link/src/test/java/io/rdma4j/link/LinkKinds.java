package io.rdma4j.link;

import java.util.List;

/** The kinds of link set that this system supports. */
public final class LinkKinds {
    private LinkKinds() {}

    public static List<String> all() {
        return System.getProperty("os.name", "").equals("Linux") ? List.of("nio", "linux") : List.of("nio");
    }
}
