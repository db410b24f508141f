// pages.mjs HOME FOLDER MANUAL JAVADOC: copies the pages of the repository into the folder of the generator, at the same relative
// paths, so that the links between them stay as they are. A source file or folder that a page links to becomes a separate page. The
// manual pages in the folder MANUAL become HTML. Names of types and methods lead to the Javadoc in the folder JAVADOC. Fails if a page
// links to a file that does not exist.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { apiLinks } from './api.mjs';

const [home, folder, manualFolder, javadoc] = process.argv.slice(2);
const withApiLinks = apiLinks(javadoc);
const LINK = /(\]\()([^)\s]+)(\))/g;
const LANGUAGES = { '.java': 'java', '.mjs': 'js', '.xml': 'xml', '.sh': 'bash', '': 'bash' };
const missing = [];
const written = new Set();
const queue = [];

const write = (path, text) => {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** Returns the path of the page of a file or folder of the repository. */
function pageOf(path) {
  if (statSync(join(home, path)).isDirectory()) {
    return posix.join(path, 'index.md');
  }
  return path.endsWith('.md') ? path.replace(/README\.md$/, 'index.md') : path + '.md';
}

function titleOf(path) {
  return /^# (.*)$/m.exec(readFileSync(join(home, path), 'utf8'))?.[1] ?? path;
}

/** Rewrites the links of a line to pages of the site, and adds the linked files to the queue. */
function withLinks(line, from) {
  return line.replace(LINK, (whole, before, target, after) => {
    if (/^([a-z]+:|#)/.test(target)) {
      return whole;
    }
    const [name, anchor] = target.split('#');
    const path = posix.normalize(posix.join(posix.dirname(from), name)).replace(/\/$/, '');
    if (path.startsWith('..') || !existsSync(join(home, path))) {
      missing.push(`${from}: ${target}`);
      return whole;
    }
    if (extname(path) === '.svg') {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      copyFileSync(join(home, path), join(folder, path));
      return `${before}./${posix.relative(posix.dirname(from), path)}${after}`;
    }
    queue.push(path);
    const page = pageOf(path).replace(/\.md$/, '');
    return `${before}/${page.replace(/(^|\/)index$/, '$1')}${page.endsWith('index') ? '' : '.html'}${anchor ? '#' + anchor : ''}${after}`;
  });
}

function markdown(path) {
  let inCode = false;
  const lines = readFileSync(join(home, path), 'utf8').split('\n').map((line) => {
    if (/^\s*```/.test(line)) {
      inCode = !inCode;
      return line;
    }
    return inCode ? line : withApiLinks(withLinks(line, path));
  });
  write(pageOf(path), lines.join('\n'));
}

/** A page with the files of a folder: the pages by their titles, in order, or the sources by their names. */
function list(path) {
  const names = readdirSync(join(home, path)).filter((name) => statSync(join(home, path, name)).isFile()).sort();
  const pages = names.filter((name) => name.endsWith('.md'));
  const lines = (pages.length > 0 ? pages : names).map((name) => {
    const file = posix.join(path, name);
    return withLinks(`- [${pages.length > 0 ? titleOf(file) : name}](${name})`, file);
  });
  write(pageOf(path), `# ${path}\n\n${lines.join('\n')}\n`);
}

function source(path) {
  const text = readFileSync(join(home, path), 'utf8');
  write(pageOf(path), `---\noutline: false\nsearch: false\n---\n\n# ${posix.basename(path)}\n\n\`${path}\`\n\n~~~~${LANGUAGES[extname(path)] ?? 'text'}\n${text}~~~~\n`);
}

function manualPages() {
  const names = readdirSync(manualFolder).filter((name) => /\.[1-9]$/.test(name)).sort();
  for (const name of names) {
    const html = execFileSync('mandoc', ['-T', 'html', '-O', 'fragment', join(manualFolder, name)], { encoding: 'utf8' });
    const title = name.replace(/\.([1-9])$/, '($1)');
    // In one line except for preformatted text: Markdown ends HTML at an empty line, and Vue drops line ends between elements.
    const line = html.split(/(<pre[\s\S]*?<\/pre>)/).map((part) =>
      part.startsWith('<pre') ? part.replace(/\n/g, '&#10;') : part.replace(/\s+/g, ' ')).join('');
    write(`docs/man/${name.replace('.', '-')}.md`,
      `---\ntitle: ${title}\noutline: false\n---\n\n<div class="man" v-pre>${line}</div>\n`);
  }
  write('docs/man/index.md', `# Manual pages\n\n${names.map((name) => `- [${name.replace(/\.([1-9])$/, '($1)')}](/docs/man/${name.replace('.', '-')}.html)`).join('\n')}\n`);
  return names;
}

function walk(path, wanted) {
  return readdirSync(join(home, path), { withFileTypes: true }).flatMap((entry) => {
    const each = posix.join(path, entry.name);
    return entry.isDirectory() ? (entry.name === 'node_modules' ? [] : walk(each, wanted)) : wanted(each) ? [each] : [];
  });
}

queue.push('README.md', ...walk('docs', (path) => path.endsWith('.md')));
while (queue.length > 0) {
  const path = queue.shift();
  if (written.has(path)) {
    continue;
  }
  written.add(path);
  if (statSync(join(home, path)).isDirectory()) {
    if (existsSync(join(home, path, 'README.md'))) {
      queue.push(posix.join(path, 'README.md'));
    } else {
      list(path);
    }
  } else if (path.endsWith('.md')) {
    markdown(path);
  } else {
    source(path);
  }
}
const manual = manualPages();

/** The menu at the side, for the generator's configuration. */
const guide = [...readFileSync(join(home, 'docs/guide/README.md'), 'utf8').matchAll(/\[([^\]]+)\]\(([a-z-]+)\.md\)/g)]
  .map(([, text, name]) => ({ text: text[0].toUpperCase() + text.slice(1), link: `/docs/guide/${name}.html` }));
const decisions = walk('docs/decisions', (path) => path.endsWith('.md') && !path.endsWith('README.md')).sort()
  .map((path) => ({ text: titleOf(path), link: '/' + path.replace(/\.md$/, '.html') }));
const tools = walk('docs/tools', (path) => path.endsWith('.md') && !path.endsWith('README.md')).sort()
  .map((path) => ({ text: titleOf(path), link: '/' + path.replace(/\.md$/, '.html') }));
const man = manual.map((name) => ({ text: name.replace(/\.([1-9])$/, '($1)'), link: `/docs/man/${name.replace('.', '-')}.html` }));
write('.vitepress/menu.json', JSON.stringify({ guide, tools, man, decisions }, null, 2));

if (missing.length > 0) {
  console.error('docs/site/build: links to files that do not exist:\n  ' + missing.join('\n  '));
  process.exitCode = 1;
}
