package io.rdma4j.programs.peer;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.tools.Server;

/** The H2 database's server and its JDBC driver, over blocking sockets: one row inserted, and read again. */
final class H2Database implements ServingPeer {
    private static final int BYTES = 1000;

    @Override
    public void serve(int port, Path folder) throws SQLException {
        Server.createTcpServer("-tcpPort", Integer.toString(port), "-ifNotExists", "-baseDir", folder.toString())
                .start();
    }

    @Override
    public PeerClient connect(int port) throws SQLException {
        Connection connection = DriverManager.getConnection(
                "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:test;DB_CLOSE_DELAY=-1", "sa", "");
        try (Statement create = connection.createStatement()) {
            create.execute("CREATE TABLE IF NOT EXISTS BLOCKS (ID IDENTITY PRIMARY KEY, DATA VARBINARY)");
        }
        PreparedStatement insert =
                connection.prepareStatement("INSERT INTO BLOCKS (DATA) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
        PreparedStatement select = connection.prepareStatement("SELECT DATA FROM BLOCKS WHERE ID = ?");
        PreparedStatement delete = connection.prepareStatement("DELETE FROM BLOCKS WHERE ID = ?");
        Blocks blocks = new Blocks(BYTES);
        return () -> {
            insert.setBytes(1, blocks.next());
            insert.executeUpdate();
            long id;
            try (ResultSet keys = insert.getGeneratedKeys()) {
                keys.next();
                id = keys.getLong(1);
            }
            select.setLong(1, id);
            try (ResultSet rows = select.executeQuery()) {
                rows.next();
                blocks.requireSame(rows.getBytes(1));
            }
            delete.setLong(1, id);
            delete.executeUpdate();
        };
    }
}
