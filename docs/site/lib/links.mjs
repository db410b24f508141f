// links.mjs FOLDER BASE LIST: checks the links of all HTML files of a folder: each link within the site must lead to a file, and to an
// element with the id of its anchor. Writes the links that leave the site into a list. The exit status is 1 if a link is dead.
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';

const [folder, base, list] = process.argv.slice(2);
const pages = new Map();
const external = new Set();
const dead = new Map();

function walk(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? walk(join(path, entry.name)) : entry.name.endsWith('.html') ? [join(path, entry.name)] : []);
}

const decoded = (text) => text.replace(/&amp;/g, '&').replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(code))
  .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"');

const unescaped = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

function read(file) {
  if (!pages.has(file)) {
    const html = readFileSync(file, 'utf8').replace(/<script\b[\s\S]*?<\/script>/g, '');
    pages.set(file, {
      ids: new Set([...html.matchAll(/\s(?:id|name)="([^"]*)"/g)].map((match) => decoded(match[1]))),
      links: [...html.matchAll(/<(?:a|link|img|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].map((match) => decoded(match[1])),
    });
  }
  return pages.get(file);
}

function check(file, link) {
  if (/^[a-z][a-z+.-]*:/.test(link) || link.startsWith('//')) {
    if (/^https?:/.test(link) || link.startsWith('//')) {
      external.add(link);
    }
    return null;
  }
  const [path, anchor] = link.split('#');
  const from = base + relative(folder, file);
  const site = path === '' ? from : posix.resolve(posix.dirname(from), unescaped(path.split('?')[0])) + (path.endsWith('/') ? '/' : '');
  if (!site.startsWith(base) && site + '/' !== base) {
    return 'leads out of the site';
  }
  let target = join(folder, site.slice(base.length));
  if (existsSync(target) && statSync(target).isDirectory()) {
    target = join(target, 'index.html');
  }
  if (!existsSync(target)) {
    return 'there is no such file';
  }
  if (anchor && target.endsWith('.html') && !read(target).ids.has(unescaped(anchor)) && !read(target).ids.has(anchor)) {
    return 'there is no such anchor';
  }
  return null;
}

const files = walk(folder);
let count = 0;
for (const file of files) {
  for (const link of read(file).links) {
    count++;
    const reason = check(file, link);
    if (reason) {
      const key = `${link}: ${reason}`;
      dead.set(key, [...(dead.get(key) ?? []), relative(folder, file)]);
    }
  }
}
writeFileSync(list, [...external].sort().join('\n') + '\n');
console.log(`docs/site/build: ${count} links in ${files.length} pages, ${external.size} addresses outside`);
if (dead.size > 0) {
  console.error(`docs/site/build: ${dead.size} dead links:`);
  for (const [key, from] of dead) {
    console.error(`  ${key} (${from.slice(0, 3).join(', ')}${from.length > 3 ? ', …' : ''})`);
  }
  process.exitCode = 1;
}
