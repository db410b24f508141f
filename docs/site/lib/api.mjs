// api.mjs: links from names of types and methods in pages to the Javadoc, by the indexes of its search.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /`([A-Z]\w*(?:\.[A-Z]\w*)*)(?:\.([a-z]\w*))?(?:\([^`]*\))?`/g;
const LINK_OR_HEADING = /(!?\[(?:[^\][]|\[[^\]]*])*]\([^)]*\)|^#.*$)/;

function index(folder, name) {
  return JSON.parse(/\[.*\]/s.exec(readFileSync(join(folder, name), 'utf8'))[0]);
}

/**
 * Returns a function that links the names in a line of Markdown. It does not change links, headings, and names that two types have.
 */
export function apiLinks(folder) {
  const modules = new Map(index(folder, 'package-search-index.js').map(({ m, l }) => [l, m]));
  const types = new Map();
  for (const { p, l } of index(folder, 'type-search-index.js').filter((each) => each.p)) {
    types.set(l, types.has(l) ? null : `/javadoc/${modules.get(p)}/${p.replaceAll('.', '/')}/${l}.html`);
  }
  const members = new Map();
  for (const { p, c, l, u } of index(folder, 'member-search-index.js')) {
    const name = `${p}.${c}.${l.replace(/\(.*/s, '')}`;
    if (!members.has(name)) {
      members.set(name, u ?? l);
    }
  }
  const target = (type, member) => {
    const page = types.get(type);
    if (!page || !member) {
      return page;
    }
    const anchor = members.get(`${page.split('/').slice(3, -1).join('.')}.${type}.${member}`);
    return anchor && `${page}#${anchor}`;
  };
  const linked = (text) => text.replace(NAME, (whole, type, member) => {
    const page = target(type, member);
    return page ? `[${whole}](${page}){target="_self"}` : whole;
  });
  return (line) => line.split(LINK_OR_HEADING).map((part, i) => (i % 2 === 0 ? linked(part) : part)).join('');
}
