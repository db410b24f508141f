// Draws the pictures of the guide: node docs/guide/pictures/draw.mjs [--check]
// With --check, nothing is written, and the exit status is 1 if a picture in this folder is not what this script draws.
// Each picture has a separate background and follows the reader's colour scheme, so that it is readable on any page.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const STYLE = `
    .paper { fill: #ffffff; stroke: #d0d7de; }
    .box { fill: #f6f8fa; stroke: #57606a; }
    .mine { fill: #ddf4ff; stroke: #0969da; }
    .memory { fill: #dafbe1; stroke: #1a7f37; }
    .queue { fill: #fff8c5; stroke: #9a6700; }
    .bad { fill: #ffebe9; stroke: #cf222e; }
    .line { stroke: #57606a; fill: none; }
    .wire { stroke: #0969da; fill: none; }
    .lane { stroke: #8c959f; stroke-dasharray: 3 4; }
    .tip { fill: #57606a; } .wiretip { fill: #0969da; }
    text { fill: #1f2328; font: 14px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
    .small { font-size: 12px; fill: #57606a; }
    .strong { font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #161b22; stroke: #30363d; }
      .box { fill: #21262d; stroke: #8b949e; }
      .mine { fill: #0c2d4d; stroke: #58a6ff; }
      .memory { fill: #0f2f1a; stroke: #3fb950; }
      .queue { fill: #332a0a; stroke: #d29922; }
      .bad { fill: #3c1618; stroke: #f85149; }
      .line { stroke: #8b949e; } .wire { stroke: #58a6ff; } .lane { stroke: #6e7681; }
      .tip { fill: #8b949e; } .wiretip { fill: #58a6ff; }
      text { fill: #e6edf3; } .small { fill: #9da7b3; }
    }`;

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

function svg(width, height, title, description, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(title)}</title>
  <desc>${escaped(description)}</desc>
  <style>${STYLE}
  </style>
  <defs>
    <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0L10 5L0 10z"/></marker>
    <marker id="wiretip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="wiretip" d="M0 0L10 5L0 10z"/></marker>
  </defs>
  <rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${parts.flat(9).map((part) => '  ' + part).join('\n')}
</svg>
`;
}

const text = (x, y, content, style = '', anchor = 'middle') =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" class="${style}">${escaped(content)}</text>`;

/** A box with a title and further lines, all centred. */
const box = (x, y, width, height, style, title, ...lines) => {
  const first = y + height / 2 + 5 - lines.length * 9;
  return [`<rect class="${style}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`,
    text(x + width / 2, first, title, 'strong'),
    lines.map((line, i) => text(x + width / 2, first + 18 * (i + 1), line, 'small'))];
};

/** A box whose title is at its top, for others inside it. */
const frame = (x, y, width, height, style, title) =>
  [`<rect class="${style}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`,
    text(x + 12, y + 22, title, 'strong', 'start')];

const arrow = (x1, y1, x2, y2, kind = 'line') =>
  `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke-width="1.6" marker-end="url(#${kind === 'wire' ? 'wiretip' : 'tip'})"/>`;

/** Lanes with their heads; returns the parts. */
const lanes = (xs, heads, bottom) => xs.map((x, i) => [
  `<line class="lane" x1="${x}" y1="62" x2="${x}" y2="${bottom}"/>`,
  box(x - 70, 18, 140, 44, heads[i][0], heads[i][1], heads[i][2])]);

/** A message from one lane to another with its label above. */
const message = (from, to, y, label, kind = 'line') =>
  [arrow(from, y, to, y, kind), text((from + to) / 2, y - 7, label, 'small')];

const note = (x, y, ...lines) => lines.map((line, i) => text(x, y + 16 * i, line, 'small'));

const pictures = {};

pictures['objects.svg'] = svg(760, 330, 'The objects of a connection',
  'Each of two programs has a protection domain with a memory region and a queue pair, and a completion queue. The queue pairs are connected through the devices.',
  [[20, 'Client'], [410, 'Server']].map(([x, name]) => [
    frame(x, 16, 330, 210, 'box', name + ': your program'),
    frame(x + 14, 46, 302, 108, 'mine', 'protection domain'),
    box(x + 26, 78, 132, 64, 'memory', 'memory region', 'memory and a key'),
    box(x + 172, 78, 132, 64, 'queue', 'queue pair', 'send and receive'),
    box(x + 156, 170, 164, 44, 'queue', 'completion queue', 'finished work'),
    arrow(x + 238, 142, x + 238, 168),
    box(x + 14, 240, 302, 40, 'box', 'device: UDP port 4791')]).concat([
    arrow(338, 262, 422, 262, 'wire'), arrow(422, 268, 338, 268, 'wire'),
    text(380, 306, 'RoCEv2 packets', 'small')]));

const two = [90, 280, 480, 670];
const heads = [['mine', 'client', 'program'], ['box', 'client', 'device'], ['box', 'server', 'device'], ['mine', 'server', 'program']];
pictures['write-and-send.svg'] = svg(760, 400, 'RDMA WRITE and SEND',
  'An RDMA WRITE goes from the client to the memory of the server without its program. A SEND consumes a receive that the server has posted, and both programs get a completion.',
  [lanes(two, heads, 385),
    text(380, 92, 'RDMA WRITE: the server’s program is not involved', 'strong'),
    message(two[0], two[1], 120, 'post write'), message(two[1], two[2], 134, 'data, address, key', 'wire'),
    box(500, 118, 128, 36, 'memory', 'written'),
    message(two[2], two[1], 172, 'acknowledgement', 'wire'), message(two[1], two[0], 190, 'completion'),
    text(380, 226, 'SEND: needs a previously posted receive', 'strong'),
    message(two[3], two[2], 254, 'post receive'), message(two[0], two[1], 272, 'post send'), message(two[1], two[2], 290, 'data', 'wire'),
    message(two[2], two[3], 320, 'completion of the receive'), message(two[2], two[1], 340, 'acknowledgement', 'wire'),
    message(two[1], two[0], 364, 'completion of the send')]);

pictures['connection.svg'] = svg(760, 430, 'Setting up and ending a connection',
  'The client sends REQ, the server accepts with REP, the client confirms with RTU. Either side ends the connection with DREQ, and the other side answers with DREP.',
  [lanes([150, 610], [['mine', 'client', 'CmId.connect'], ['mine', 'server', 'CmId.listen']], 415),
    note(150, 90, 'ADDRESS_RESOLVED', 'ROUTE_RESOLVED'), text(610, 98, 'waits in getRequest', 'small'),
    message(150, 610, 140, 'REQ: port, queue pair number, 56 bytes of private data', 'wire'),
    text(610, 160, 'CONNECT_REQUEST', 'small'), text(610, 178, 'creates a queue pair, accept', 'small'),
    message(610, 150, 208, 'REP: queue pair number, 196 bytes of private data', 'wire'),
    text(150, 228, 'ESTABLISHED', 'small'),
    message(150, 610, 252, 'RTU', 'wire'), text(610, 272, 'ESTABLISHED', 'small'),
    box(270, 280, 220, 36, 'memory', 'WRITE, READ, SEND'),
    message(150, 610, 348, 'DREQ: disconnect', 'wire'), text(610, 368, 'DISCONNECTED', 'small'),
    message(610, 150, 388, 'DREP', 'wire'), text(150, 408, 'DISCONNECTED', 'small')]);

pictures['memory.svg'] = svg(760, 250, 'The life of registered memory',
  'Memory is allocated in an arena, registered, used by work requests until their completions, deregistered, and freed when the arena is closed. The order of closing is the reverse of the order of opening.',
  [box(20, 40, 130, 70, 'box', 'allocated', 'arena.allocate'), box(210, 40, 150, 70, 'mine', 'registered', 'register: key, rights'),
    box(420, 40, 150, 70, 'queue', 'in use', 'posted, not completed'),
    arrow(150, 75, 208, 75), arrow(360, 62, 418, 62), text(390, 52, 'post', 'small'),
    arrow(420, 90, 362, 90), text(390, 128, 'completion', 'small'),
    box(210, 160, 150, 60, 'box', 'deregistered', 'region.close'), arrow(285, 110, 285, 158),
    box(20, 160, 130, 60, 'box', 'freed', 'arena.close'), arrow(210, 190, 152, 190),
    box(606, 40, 138, 70, 'bad', 'closed early', 'fails, no crash'), arrow(570, 75, 604, 75),
    note(560, 170, 'A peer that uses the key after region.close gets', 'REMOTE_ACCESS_ERROR; a work request that was', 'still in flight completes with LOCAL_PROTECTION_ERROR.')]);

pictures['waiting.svg'] = svg(760, 260, 'The waiting thread drives the device',
  'A thread that polls or waits receives packets, processes them, checks timers and sends. A background thread does so only while no thread of the program does.',
  [box(20, 40, 190, 60, 'mine', 'program thread', 'poll, post, await'), box(20, 160, 190, 60, 'box', 'background thread', 'only if no other drives'),
    frame(290, 30, 210, 200, 'queue', 'duty cycle'),
    note(395, 80, '1. receive packets', '', '2. process them', '', '3. check timers', '', '4. send packets'),
    arrow(210, 70, 288, 100), arrow(210, 190, 288, 160),
    box(560, 40, 180, 60, 'box', 'completion queues'), box(560, 160, 180, 60, 'box', 'network', 'UDP port 4791'),
    arrow(500, 90, 558, 72), arrow(500, 180, 558, 190, 'wire'), arrow(558, 202, 500, 194, 'wire')]);

pictures['sockets.svg'] = svg(760, 270, 'The transport of a channel',
  'A program opens channels of java.nio. The selector provider applies the first rule that contains the address: rdma, tcp, or either, which tries RDMA first.',
  [box(20, 95, 150, 70, 'mine', 'your program', 'java.nio channels'), box(205, 95, 200, 70, 'queue', 'RdmaSelectorProvider', 'first rule that matches'),
    arrow(170, 130, 203, 130),
    box(470, 20, 270, 56, 'memory', 'rdma', 'RDMA socket, UDP port 4791'), box(470, 104, 270, 56, 'memory', 'either', 'RDMA if possible, otherwise TCP'),
    box(470, 188, 270, 56, 'box', 'tcp', 'the platform’s channel'),
    arrow(405, 120, 468, 55), arrow(405, 130, 468, 132), arrow(405, 142, 468, 212)]);

let different = 0;
for (const [name, drawn] of Object.entries(pictures)) {
  const file = fileURLToPath(new URL(name, import.meta.url));
  if (process.argv.includes('--check')) {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== drawn) {
      console.error(`${name} is not what draw.mjs draws: run node docs/guide/pictures/draw.mjs`);
      different = 1;
    }
  } else {
    writeFileSync(file, drawn);
  }
}
process.exitCode = different;
