import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * Checks a repository that {@code mvn -Prelease deploy} has filled: which artifacts it has, the files of each, their
 * contents, and the links of the Javadoc. {@code build/release/rehearse} runs it.
 *
 * <p>Usage: {@code java CheckRepository.java REPOSITORY CHECKOUT}
 */
final class CheckRepository {
    private static final String PARENT = "rdma4j-parent";
    private static final String BOM = "rdma4j-bom";
    private static final List<String> FILES_OF_A_JAR =
            List.of(".jar", "-sources.jar", "-javadoc.jar", ".pom", "-cyclonedx.json", "-cyclonedx.xml");

    private final Path group;
    private final Path checkout;
    private final String version;
    private final Set<String> packagesOfTheApi = new TreeSet<>();
    private final List<String> faults = new ArrayList<>();

    private CheckRepository(Path repository, Path checkout) throws Exception {
        this.group = repository.resolve("io/rdma4j");
        this.checkout = checkout;
        this.version = child(xml(checkout.resolve("build/bom/pom.xml")).getDocumentElement(), "version");
        elements(xml(checkout.resolve("pom.xml")), "include")
                .forEach(
                        include -> packagesOfTheApi.add(include.getTextContent().strip()));
    }

    public static void main(String[] arguments) throws Exception {
        CheckRepository check = new CheckRepository(Path.of(arguments[0]), Path.of(arguments[1]));
        Set<String> jars = check.jarsOfTheBom();
        check.onlyThePublishedArtifactsAreThere(jars);
        check.everyPomIsComplete(jars);
        Map<String, Map<String, byte[]>> javadoc = new TreeMap<>();
        for (String artifact : jars) {
            if (check.hasAllFiles(artifact)) {
                check.theJarsHaveLicenceAndModule(artifact);
                check.everyClassHasItsSource(artifact);
                check.theBillOfMaterialsListsWhatTheRepositoryHas(artifact);
                javadoc.put(artifact, entries(check.file(artifact, "-javadoc.jar")));
            }
        }
        int links = new JavadocLinks(javadoc, check.version).check(check.faults);
        check.everyFileMatchesItsChecksums();
        if (!check.faults.isEmpty()) {
            check.faults.forEach(fault -> System.err.println("FAILED: " + fault));
            System.exit(1);
        }
        System.out.printf(
                "%d jars with sources, Javadoc (%d links between and within modules), licence, module name and bill of materials%n",
                jars.size(), links);
    }

    private Set<String> jarsOfTheBom() throws Exception {
        Set<String> artifacts = new TreeSet<>();
        for (Element dependency : elements(xml(checkout.resolve("build/bom/pom.xml")), "dependency")) {
            artifacts.add(child(dependency, "artifactId"));
        }
        return artifacts;
    }

    private void onlyThePublishedArtifactsAreThere(Set<String> jars) throws IOException {
        Set<String> expected = new TreeSet<>(jars);
        expected.addAll(List.of(PARENT, BOM));
        Set<String> found = new TreeSet<>();
        try (Stream<Path> folders = Files.list(group)) {
            folders.forEach(folder -> found.add(folder.getFileName().toString()));
        }
        require(found.equals(expected), "the repository has " + found + ", and not " + expected);
    }

    /** A module has its name and description; the rest comes from the parent, and the bill of materials has none. */
    private void everyPomIsComplete(Set<String> jars) throws Exception {
        for (String artifact : jars) {
            requireElements(artifact, "name", "description", "parent");
        }
        for (String artifact : List.of(PARENT, BOM)) {
            requireElements(artifact, "name", "description", "url", "licenses", "developers", "scm");
        }
    }

    private void requireElements(String artifact, String... names) throws Exception {
        Element project = xml(file(artifact, ".pom")).getDocumentElement();
        for (String name : names) {
            require(!child(project, name).isBlank(), "the pom of " + artifact + " has no " + name);
        }
    }

    private boolean hasAllFiles(String artifact) {
        boolean complete = true;
        for (String end : FILES_OF_A_JAR) {
            complete &= require(Files.isRegularFile(file(artifact, end)), artifact + " has no file " + end);
        }
        return complete;
    }

    private void theJarsHaveLicenceAndModule(String artifact) throws IOException {
        byte[] licence = Files.readAllBytes(checkout.resolve("LICENSE"));
        for (String end : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
            byte[] found = entries(file(artifact, end)).get("META-INF/LICENSE");
            require(
                    found != null && MessageDigest.isEqual(found, licence),
                    artifact + end + " does not have the licence");
        }
        byte[] descriptor = entries(file(artifact, ".jar")).get("module-info.class");
        if (require(descriptor != null, artifact + ".jar is no module")) {
            ModuleDescriptor module = ModuleDescriptor.read(java.nio.ByteBuffer.wrap(descriptor));
            String expected = "io." + artifact.replace('-', '.') + "@" + version;
            require(
                    module.toNameAndVersion().equals(expected),
                    artifact + ".jar is the module " + module.toNameAndVersion());
        }
    }

    private void everyClassHasItsSource(String artifact) throws IOException {
        Set<String> sources = entries(file(artifact, "-sources.jar")).keySet();
        for (String name : entries(file(artifact, ".jar")).keySet()) {
            if (name.endsWith(".class") && !name.contains("$")) {
                String source = name.replace(".class", ".java");
                require(sources.contains(source), artifact + "-sources.jar does not have " + source);
            }
        }
    }

    /** The components are the artifacts that come along with this one, each with the hash of its jar. */
    private void theBillOfMaterialsListsWhatTheRepositoryHas(String artifact) throws Exception {
        Set<String> listed = new TreeSet<>();
        Document bill = xml(file(artifact, "-cyclonedx.xml"));
        Element components = elements(bill.getDocumentElement(), "components").getLast();
        for (Element component : elements(components, "component")) {
            String name = child(component, "name");
            String hash = elements(component, "hash").stream()
                    .filter(each -> each.getAttribute("alg").equals("SHA-256"))
                    .map(Element::getTextContent)
                    .findFirst()
                    .orElse("");
            if (child(component, "group").equals("io.rdma4j")) {
                listed.add(name);
                Path jar = file(name, ".jar");
                require(
                        Files.exists(jar)
                                && digest("SHA-256", Files.readAllBytes(jar)).equals(hash),
                        "the bill of materials of " + artifact + " lists another " + name + " than the repository has");
            } else {
                require(!hash.isEmpty(), "the bill of materials of " + artifact + " has no hash of " + name);
            }
        }
        Set<String> needed = new TreeSet<>();
        addDependencies(artifact, needed);
        require(
                listed.equals(needed),
                "the bill of materials of " + artifact + " lists " + listed + ", and not " + needed);
    }

    private void addDependencies(String artifact, Set<String> needed) throws Exception {
        for (Element dependency : elements(xml(file(artifact, ".pom")), "dependency")) {
            String scope = child(dependency, "scope");
            String name = child(dependency, "artifactId");
            if (child(dependency, "groupId").equals("io.rdma4j") && scope.isEmpty() && needed.add(name)) {
                addDependencies(name, needed);
            }
        }
    }

    private void everyFileMatchesItsChecksums() throws Exception {
        try (Stream<Path> files = Files.walk(group)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                if (name.matches(".*\\.(md5|sha1|sha256|sha512|asc)")) {
                    continue;
                }
                for (String algorithm : List.of("MD5", "SHA-1")) {
                    Path sum = file.resolveSibling(
                            name + "." + algorithm.toLowerCase().replace("-", ""));
                    require(
                            Files.exists(sum)
                                    && Files.readString(sum)
                                            .strip()
                                            .equals(digest(algorithm, Files.readAllBytes(file))),
                            name + " has no matching " + algorithm);
                }
            }
        }
    }

    private Path file(String artifact, String end) {
        return group.resolve(artifact).resolve(version).resolve(artifact + "-" + version + end);
    }

    private boolean require(boolean condition, String fault) {
        if (!condition) {
            faults.add(fault);
        }
        return condition;
    }

    private static Map<String, byte[]> entries(Path jar) throws IOException {
        Map<String, byte[]> entries = new TreeMap<>();
        try (InputStream bytes = Files.newInputStream(jar);
                ZipInputStream zip = new ZipInputStream(bytes, StandardCharsets.UTF_8)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                if (!entry.isDirectory()) {
                    entries.put(entry.getName(), zip.readAllBytes());
                }
            }
        }
        return entries;
    }

    private static String digest(String algorithm, byte[] bytes) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
    }

    private static Document xml(Path file) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    }

    private static List<Element> elements(Document document, String name) {
        return elements(document.getDocumentElement(), name);
    }

    private static List<Element> elements(Element parent, String name) {
        List<Element> found = new ArrayList<>();
        for (int i = 0; i < parent.getElementsByTagName(name).getLength(); i++) {
            found.add((Element) parent.getElementsByTagName(name).item(i));
        }
        return found;
    }

    /** Returns the text of a direct child, or an empty text if there is no such child. */
    private static String child(Element parent, String name) {
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node.getNodeName().equals(name)) {
                return node.getTextContent().strip();
            }
        }
        return "";
    }
}
