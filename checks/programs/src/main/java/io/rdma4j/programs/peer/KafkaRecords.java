package io.rdma4j.programs.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka with a broker that is its own controller: 100 records of 1000 bytes produced, and consumed again. */
final class KafkaRecords implements ServingPeer {
    private static final int BYTES = 1000;
    private static final int RECORDS = 100;
    private static final String TOPIC = "blocks";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);

    @Override
    public void serve(int port, Path folder) throws Exception {
        Path configuration = folder.resolve("server.properties");
        Files.writeString(configuration, """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%2$d
                listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                advertised.listeners=PLAINTEXT://127.0.0.1:%1$d
                controller.listener.names=CONTROLLER
                inter.broker.listener.name=PLAINTEXT
                log.dirs=%3$s
                offsets.topic.replication.factor=1
                transaction.state.log.replication.factor=1
                transaction.state.log.min.isr=1
                """.formatted(port, port + 1, folder.resolve("logs")));
        int status = kafka.tools.StorageTool.execute(
                new String[] {"format", "-t", Uuid.randomUuid().toString(), "-c", configuration.toString()},
                System.err);
        if (status != 0) {
            throw new IllegalStateException("formatting the storage failed with status " + status);
        }
        Thread.ofPlatform().name("broker").start(() -> kafka.Kafka.main(new String[] {configuration.toString()}));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + port))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, Optional.of(1), Optional.of((short) 1))))
                    .all()
                    .get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            }
        }
    }

    @Override
    public PeerClient connect(int port) {
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers", "127.0.0.1:" + port,
                        "acks", "all",
                        "linger.ms", 0,
                        "max.block.ms", 6000,
                        "request.timeout.ms", 3000,
                        "delivery.timeout.ms", 6000),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + port, "default.api.timeout.ms", 6000),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        consumer.assign(List.of(PARTITION));
        consumer.seekToEnd(List.of(PARTITION));
        long _ = consumer.position(PARTITION);
        Blocks blocks = new Blocks(BYTES);
        return () -> {
            byte[] block = blocks.next();
            produce(producer, block);
            consume(consumer, blocks);
        };
    }

    private static void produce(KafkaProducer<byte[], byte[]> producer, byte[] block) throws Exception {
        List<Future<?>> sent = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            sent.add(producer.send(new ProducerRecord<>(TOPIC, 0, null, block)));
        }
        for (Future<?> each : sent) {
            each.get(10, TimeUnit.SECONDS);
        }
    }

    private static void consume(KafkaConsumer<byte[], byte[]> consumer, Blocks blocks) {
        int left = RECORDS;
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (left > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new UncheckedIOException(new IOException(left + " records are missing"));
            }
            for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
                blocks.requireSame(each.value());
                left--;
            }
        }
    }
}
