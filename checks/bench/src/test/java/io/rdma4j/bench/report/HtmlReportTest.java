package io.rdma4j.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static final Map<String, Object> MACHINE = Map.of("processor", "a <fast> \"one\" & more");

    private static Document document(String page) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(page)));
    }

    private static Results results() {
        Results results = ResultsTest.results();
        results.add("e-raw", 3, Map.of("p0Micros", 1.0, "p50Micros", 2.0, "p99Micros", 6.0, "p99.9Micros", 60.0));
        return results;
    }

    @Test
    void pageIsWellFormedWithAnyNames() throws Exception {
        Document document = document(HtmlReport.write(MACHINE, ResultsTest.rows(), results()));
        assertThat(document.getElementsByTagName("p").item(0).getTextContent()).contains("a <fast> \"one\" & more");
        assertThat(document.getElementsByTagName("table").item(0).getTextContent())
                .contains("a <row> & more", "skipped: there is none here", "4.80 µs");
    }

    @Test
    void pageIsSelfContained() {
        assertThat(HtmlReport.write(MACHINE, ResultsTest.rows(), results()))
                .doesNotContain("http", "src=", "href=", "url(", "@import");
    }

    @Test
    void rowsWithPercentilesHaveALine() throws Exception {
        Document document = document(HtmlReport.write(MACHINE, ResultsTest.rows(), results()));
        assertThat(document.getElementsByTagName("svg").getLength()).isEqualTo(1);
        assertThat(document.getElementsByTagName("polyline").getLength()).isEqualTo(1);
        assertThat(document.getElementsByTagName("circle").getLength()).isEqualTo(4);
    }

    @Test
    void throughputsAreBarsAndSizesAreLines() throws Exception {
        Row small = new Row(
                "write-throughput-64", "this project", "64 B", "e1", "g", Unit.GIGABYTES_PER_SECOND, null, List.of());
        Row large = new Row(
                "write-throughput-1mib",
                "this project",
                "1 MiB",
                "e2",
                "g",
                Unit.GIGABYTES_PER_SECOND,
                null,
                List.of());
        Row other = new Row("tcp", "peers", "TCP", "e3", "g", Unit.GIGABYTES_PER_SECOND, null, List.of());
        Results results = new Results();
        results.add("e1", 1, Map.of("g", 0.02));
        results.add("e2", 1, Map.of("g", 9.0));
        results.add("e3", 1, Map.of("g", 5.0));
        Document document = document(
                HtmlReport.write(MACHINE, Map.of(small.id(), small, large.id(), large, other.id(), other), results));
        assertThat(document.getElementsByTagName("rect").getLength()).isEqualTo(1);
        assertThat(document.getElementsByTagName("polyline").getLength()).isEqualTo(1);
    }

    @Test
    void resultsWithoutFiguresMakeAPage() throws Exception {
        Document document = document(HtmlReport.write(MACHINE, ResultsTest.rows(), new Results()));
        assertThat(document.getElementsByTagName("svg").getLength()).isZero();
    }
}
