import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Checks the relative links of Javadoc pages, with their fragments. The pages of each artifact are taken to be at
 * {@code ARTIFACT/VERSION}, as on javadoc.io. Links to pages of the JDK are absolute, and are not followed.
 */
final class JavadocLinks {
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ID = Pattern.compile("\\b(?:id|name)=\"([^\"]*)\"");

    private final Map<String, byte[]> pages = new HashMap<>();
    private final Map<String, Set<String>> fragments = new HashMap<>();

    /** Takes the entries of the Javadoc jars, by the name of the artifact. */
    JavadocLinks(Map<String, Map<String, byte[]>> jars, String version) {
        jars.forEach((artifact, entries) ->
                entries.forEach((name, bytes) -> pages.put("/" + artifact + "/" + version + "/" + name, bytes)));
    }

    /** Adds a fault for each link that leads nowhere, and returns the number of links that were checked. */
    int check(List<String> faults) {
        int links = 0;
        for (Map.Entry<String, byte[]> page : pages.entrySet()) {
            if (!page.getKey().endsWith(".html")) {
                continue;
            }
            URI address = URI.create(page.getKey().replace(" ", "%20"));
            for (MatchResult found :
                    LINK.matcher(text(page.getValue())).results().toList()) {
                String link = found.group(1)
                        .replace("&amp;", "&")
                        .replace("&lt;", "%3C")
                        .replace("&gt;", "%3E");
                if (link.isEmpty() || link.startsWith("#") || link.matches("[a-z]+:.*")) {
                    continue;
                }
                links++;
                if (!leadsSomewhere(address.resolve(link.replace("[", "%5B").replace("]", "%5D")))) {
                    faults.add("a link of " + page.getKey() + " leads nowhere: " + link);
                }
            }
        }
        return links;
    }

    private boolean leadsSomewhere(URI link) {
        byte[] page = pages.get(link.getPath());
        if (page == null) {
            return false;
        }
        String fragment = link.getRawFragment();
        return fragment == null
                || !link.getPath().endsWith(".html")
                || fragments
                        .computeIfAbsent(link.getPath(), path -> idsOf(text(page)))
                        .contains(URLDecoder.decode(fragment.replace("+", "%2B"), StandardCharsets.UTF_8));
    }

    private static Set<String> idsOf(String page) {
        Set<String> ids = new HashSet<>();
        for (MatchResult found : ID.matcher(page).results().toList()) {
            ids.add(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
        }
        return ids;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
