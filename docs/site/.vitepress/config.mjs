// The generator's configuration. lib/pages.mjs writes menu.json.
import { readFileSync } from 'node:fs';

const menu = JSON.parse(readFileSync(new URL('menu.json', import.meta.url), 'utf8'));
const base = process.env.SITE_BASE ?? '/';

export default {
  title: 'rdma4j',
  description: 'RDMA for Java: connection manager, verbs, RDMA sockets and tools over RDMA hardware and a software RoCEv2 device',
  base,
  appearance: 'force-auto', // follows the reader's system, as the pictures do
  ignoreDeadLinks: true, // lib/links.mjs checks all links, also their anchors and those of the Javadoc
  markdown: { theme: { light: 'github-light', dark: 'github-dark' } },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Guide', link: '/docs/guide/' },
      { text: 'Errors', link: '/docs/errors.html' },
      { text: 'Javadoc', link: `${base}javadoc/index.html`, target: '_self' },
      {
        text: 'Reference',
        items: [
          { text: 'From C to Java', link: '/docs/c-to-java.html' },
          { text: 'Manual pages', link: '/docs/man/' },
          { text: 'The tools', link: '/docs/tools/' },
          { text: 'Performance', link: '/docs/performance.html' },
          { text: 'Decisions', link: '/docs/decisions/' },
          { text: 'Changelog', link: '/CHANGELOG.html' },
        ],
      },
    ],
    sidebar: [
      { text: 'Guide', items: menu.guide },
      {
        text: 'Reference',
        items: [
          { text: 'All error messages', link: '/docs/errors.html' },
          { text: 'From C to Java', link: '/docs/c-to-java.html' },
          { text: 'Javadoc', link: `${base}javadoc/index.html`, target: '_self' },
          { text: 'States of a queue pair', link: '/docs/queue-pair-states.html' },
          { text: 'Linux and the specification', link: '/docs/linux-and-the-specification.html' },
          { text: 'Tests of pyverbs', link: '/docs/pyverbs.html' },
          { text: 'Performance', link: '/docs/performance.html' },
          { text: 'Security', link: '/SECURITY.html' },
          { text: 'Architecture', link: '/ARCHITECTURE.html' },
          { text: 'Glossary', link: '/docs/glossary.html' },
        ],
      },
      { text: 'The tools', collapsed: true, items: menu.tools },
      { text: 'Manual pages', collapsed: true, items: menu.man },
      { text: 'Decisions', collapsed: true, items: menu.decisions },
    ],
  },
};
