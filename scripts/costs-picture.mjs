// @ts-check
/**
 * Draws docs/costs.svg and fills in the tables of docs/costs.md from what `npm run bench` has measured. The rows are
 * kept in docs/performance-results.json: a run of some of the benches brings those up to date and leaves the others.
 * Usage: node scripts/costs-picture.mjs [RESULTS] [FOLDER]
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { BARS, LINES, TABLES } from './costs-tables.mjs';

/**
 * @typedef {{ readonly name: string, readonly unit: string, readonly value: number, readonly spread: string,
 *   readonly peer?: string, readonly peerValue?: number, readonly ratio?: number, readonly node: string }} Row
 * @typedef {{ readonly left: number, readonly right: number, readonly top: number, readonly bottom: number }} Frame
 */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [, , source = join(root, '.build', 'bench', 'results.json'), folder = join(root, 'docs')] = argv;
const KEPT = join(folder, 'performance-results.json');

const WIDTH = 920;
const OURS = '#1d4ed8';
const PEER = '#94a3b8';
const COLORS = [OURS, '#b45309', '#475569'];
const INK = '#0f172a';
const QUIET = '#475569';
const BAR_STEP = 50;
const BARS_TOP = 96;
const BARS_LEFT = 24;
const BAR_WIDTH = 300;

/** Of rows with one name and two peers both are kept. @param {Row} row */
const keyOf = ({ name, peer = '' }) => (name.startsWith('full wakes') ? `${name} / ${peer}` : name);

/** @returns {Map<string, Row>} */
function mergedRows() {
  const known = existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')).rows : [];
  const { node, rows } = JSON.parse(readFileSync(source, 'utf8'));
  // Rows that are kept say under which Node they were measured.
  return new Map([...known, ...rows].map((/** @type {Row} */ row) => [keyOf(row), { ...row, node: row.node ?? node }]));
}

const rows = mergedRows();

/** @param {number} value */
const rounded = (value) =>
  value >= 1_000
    ? Math.round(value).toLocaleString('en')
    : value >= 100
      ? value.toFixed(0)
      : value >= 10
        ? value.toFixed(1)
        : value.toPrecision(2);
/** @param {number} value */
const at = (value) => value.toFixed(1);

/** @param {number} value @param {string} unit */
function told(value, unit) {
  if (unit !== 'bytes') return `${rounded(value)} ${unit}`;
  return value >= 1e6
    ? `${rounded(value / 1e6)} MB`
    : value >= 1e4
      ? `${rounded(value / 1e3)} kB`
      : `${rounded(value)} bytes`;
}

/**
 * @param {readonly [number, number]} place @param {string} words @param {{ size?: number, color?: string, weight?:
 * number, anchor?: string }} [check]
 */
function write([x, y], words, { size = 12, color = QUIET, weight = 400, anchor = 'start' } = {}) {
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" font-weight="${weight}" fill="${color}" text-anchor="${anchor}">${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
}

/** Those with both sides. */
const pairs = BARS.flatMap(({ row: key, label }) => {
  const row = rows.get(key);
  return row?.peerValue === undefined ? [] : [{ ...row, label, peerValue: row.peerValue }];
});

/**
 * Ours above what it is held against; each pair has a scale of its own. @param {(typeof pairs)[number]} row @param
 * {number} index
 */
function pair(row, index) {
  const top = BARS_TOP + index * BAR_STEP;
  const most = Math.max(row.value, row.peerValue);
  const bar = (
    /** @type {number} */ value,
    /** @type {number} */ y,
    /** @type {string} */ color,
    /** @type {string} */ words,
  ) => {
    const width = Math.max(2, (value / most) * BAR_WIDTH);
    return `<rect x="${BARS_LEFT}" y="${at(y)}" width="${at(width)}" height="11" rx="2" fill="${color}"/>${write([BARS_LEFT + width + 6, y + 9.5], words, { size: 11, color: INK })}`;
  };
  return [
    write([BARS_LEFT, top], row.label, { weight: 700, color: INK }),
    bar(row.value, top + 6, OURS, told(row.value, row.unit)),
    bar(row.peerValue, top + 20, PEER, `${row.peer}: ${told(row.peerValue, row.unit)}`),
  ];
}

/** @param {Frame} frame @param {(typeof LINES)[number]} chart */
function lineChart(frame, { title, unit, marks, lines }) {
  const found = lines.map(({ label, points }) => ({
    label,
    values: points.map(({ row, ofPeer }) => (ofPeer ? rows.get(row)?.peerValue : rows.get(row)?.value)),
  }));
  const values = found.flatMap((line) => line.values.filter((value) => value !== undefined));
  if (values.length === 0) return [];
  const most = Math.max(...values) * 1.15;
  const x = (/** @type {number} */ index) =>
    frame.left + (index / Math.max(1, marks.length - 1)) * (frame.right - frame.left);
  const y = (/** @type {number} */ value) => frame.bottom - (value / most) * (frame.bottom - frame.top);
  return [
    write([frame.left - 44, frame.top - 22], title, { size: 14, color: INK, weight: 700 }),
    ...[0, 0.5, 1].map(
      (share) =>
        `<line x1="${frame.left}" x2="${frame.right}" y1="${at(y(most * share))}" y2="${at(y(most * share))}" stroke="#cbd5e1"/>${write([frame.left - 8, y(most * share) + 4], rounded(most * share), { anchor: 'end', size: 11 })}`,
    ),
    ...marks.map((mark, index) => write([x(index), frame.bottom + 16], mark, { anchor: 'middle', size: 11 })),
    write([frame.left - 44, frame.top - 7], unit, { size: 11 }),
    ...found.flatMap((line, index) => drawnLine(line, COLORS[index] ?? INK, x, y)),
    ...lineLabels(found, frame, y),
  ];
}

/**
 * @param {{ readonly values: readonly (number | undefined)[] }} line @param {string} color @param {(index: number) =>
 * number} x @param {(value: number) => number} y
 */
function drawnLine({ values }, color, x, y) {
  const points = values.flatMap((value, index) => (value === undefined ? [] : [`${at(x(index))} ${at(y(value))}`]));
  return [
    `<path d="M${points.join('L')}" fill="none" stroke="${color}" stroke-width="2"/>`,
    ...points.map(
      (point) => `<circle cx="${point.split(' ')[0]}" cy="${point.split(' ')[1]}" r="3.5" fill="${color}"/>`,
    ),
  ];
}

/**
 * Beside the last points, never one over the other. @param {readonly { readonly label: string, readonly values:
 * readonly (number | undefined)[] }[]} found @param {Frame} frame @param {(value: number) => number} y
 */
function lineLabels(found, frame, y) {
  let next = -Infinity;
  return found
    .map(({ label, values }, index) => ({
      label,
      color: COLORS[index] ?? INK,
      top: y(values.findLast((value) => value !== undefined) ?? 0),
    }))
    .toSorted((one, other) => one.top - other.top)
    .map(({ label, color, top }) => {
      const place = Math.max(top + 4, next);
      next = place + 15;
      return write([frame.right + 10, place], label, { size: 11, color, weight: 700 });
    });
}

function picture() {
  const height = Math.max(BARS_TOP + pairs.length * BAR_STEP + 10, 490);
  const described = pairs.map(
    (row) => `${row.label}: ${told(row.value, row.unit)}, ${row.peer} ${told(row.peerValue, row.unit)}`,
  );
  const charts = LINES.flatMap((chart, index) =>
    lineChart({ left: 610, right: 790, top: 112 + index * 210, bottom: 232 + index * 210 }, chart),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description" font-family="ui-sans-serif, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif">`,
    '<title id="title">What a task, an event, a wake and a subagent cost, each beside the least that does the same</title>',
    `<desc id="description">${described.join('; ').replaceAll('&', '&amp;')}.</desc>`,
    `<rect x="1" y="1" width="${WIDTH - 2}" height="${height - 2}" rx="14" fill="#ffffff" stroke="#cbd5e1"/>`,
    write([BARS_LEFT, 40], 'Beside the least that does the same', { size: 16, color: INK, weight: 700 }),
    write([BARS_LEFT, 60], 'Blue: Wakechart. Grey: what it is held against. Each pair has a scale of its own.'),
    write([566, 40], 'How it grows', { size: 16, color: INK, weight: 700 }),
    ...pairs.flatMap(pair),
    ...charts,
    '</svg>',
  ];
}

/** @param {(typeof TABLES)[string][number]} line */
function tableLine({ row: key, label }) {
  const row = rows.get(key);
  if (row === undefined) return `| ${label} | not measured | | |`;
  const beside = row.peerValue === undefined ? '' : `${row.peer}: ${told(row.peerValue, row.unit)}`;
  return `| ${label} | ${told(row.value, row.unit)} | ${row.spread} | ${beside} |`;
}

/** @param {string} page */
function withTables(page) {
  return Object.entries(TABLES).reduce((text, [name, lines]) => {
    const table = ['| | | spread | beside it |', '|---|---|---|---|', ...lines.map(tableLine)].join('\n');
    return text.replace(
      new RegExp(`(<!-- figures: ${name} -->\n)[^]*?(<!-- end of figures -->)`),
      (_all, begin, end) => `${begin}${table}\n${end}`,
    );
  }, page);
}

writeFileSync(KEPT, `${JSON.stringify({ rows: [...rows.values()] }, undefined, 2)}\n`);
writeFileSync(join(folder, 'costs.svg'), `${picture().join('\n')}\n`);
const page = join(folder, 'costs.md');
writeFileSync(page, withTables(readFileSync(page, 'utf8')));
