// @ts-check
/**
 * Draws docs/postgres-growth.svg from what `npm run bench -- postgres-growth` has measured, and keeps the points beside
 * it. It is made again by hand when the tables have changed. Usage: node scripts/postgres-growth-picture.mjs [POINTS]
 * [FOLDER]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ readonly name: string, readonly unit: 'ms' | 'GB', readonly over: 'log10 sessions' | 'sessions',
 *   readonly measured: readonly number[], readonly intercept: number, readonly slope: number, readonly value: number,
 *   readonly margin: number }} Line
 * @typedef {{ readonly wanted: number, readonly eventsPerSession: number, readonly points: readonly {
 *   readonly sessions: number }[], readonly lines: readonly Line[] }} Growth
 * @typedef {{ readonly left: number, readonly right: number, readonly top: number, readonly bottom: number }} Frame
 */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [, , source = join(root, '.build', 'bench', 'postgres-growth.json'), folder = join(root, 'docs')] = argv;
const text = readFileSync(source, 'utf8');
const growth = /** @type {Growth} */ (JSON.parse(text));
const sizes = growth.points.map(({ sessions }) => sessions);
const [least = 1, most = growth.wanted] = [sizes[0], sizes.at(-1)];

const WIDTH = 920;
const HEIGHT = 480;
/** Dark enough for text on white. */
const COLORS = ['#1d4ed8', '#b45309', '#047857', '#7e22ce'];
const INK = '#0f172a';
const QUIET = '#475569';
const LABEL_STEP = 34;

/** @param {number} value */
const short = (value) => (value >= 1e6 ? `${value / 1e6} M` : value >= 1e3 ? `${value / 1e3} k` : `${value}`);
/** @param {number} value */
const rounded = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
/** @param {number} value */
const at = (value) => value.toFixed(1);

/**
 * @param {readonly [number, number]} place @param {string} words @param {{ size?: number, color?: string, weight?:
 * number, anchor?: string }} [check]
 */
function write([x, y], words, { size = 13, color = QUIET, weight = 400, anchor = 'start' } = {}) {
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" font-weight="${weight}" fill="${color}" text-anchor="${anchor}">${words}</text>`;
}

/** Both axes in powers of ten. @param {Frame} frame @param {string} title @param {readonly Line[]} lines */
function panel(frame, title, lines) {
  const ends = lines
    .flatMap(({ measured, value, margin }) => [...measured, value - margin, value + margin])
    .filter((value) => value > 0);
  const [low, high] = [
    Math.floor(Math.log10(Math.max(Math.min(...ends), Math.max(...ends) / 1e4))),
    Math.ceil(Math.log10(Math.max(...ends))),
  ];
  const x = (/** @type {number} */ sessions) =>
    frame.left +
    ((Math.log10(sessions) - Math.log10(least)) / (Math.log10(growth.wanted) - Math.log10(least))) *
      (frame.right - frame.left);
  const y = (/** @type {number} */ value) =>
    frame.bottom -
    ((Math.min(high, Math.max(low, Math.log10(Math.max(value, 1e-9)))) - low) / (high - low)) *
      (frame.bottom - frame.top);
  return [
    write([frame.left, frame.top - 34], title, { size: 16, color: INK, weight: 700 }),
    `<rect x="${at(x(most))}" y="${frame.top}" width="${at(x(growth.wanted) - x(most))}" height="${frame.bottom - frame.top}" fill="#f1f5f9"/>`,
    write([frame.left, frame.top - 10], 'measured', { size: 12 }),
    write([x(growth.wanted), frame.top - 10], 'extrapolated', { size: 12, anchor: 'end' }),
    ...Array.from({ length: high - low + 1 }, (_, step) =>
      gridLine(frame, 10 ** (low + step), y, lines[0]?.unit ?? ''),
    ),
    ...[...sizes, growth.wanted].map((sessions, index, all) =>
      index === 0 || index >= all.length - 2 ? sizeMark(frame, sessions, x(sessions)) : '',
    ),
    ...lines.flatMap((line, index) =>
      drawn(line, { color: COLORS[index] ?? INK, shift: (index - (lines.length - 1) / 2) * 3 }, x, y),
    ),
    ...labels(lines, frame, y),
  ];
}

/** @param {Frame} frame @param {number} value @param {(value: number) => number} y @param {string} unit */
function gridLine(frame, value, y, unit) {
  return `<line x1="${frame.left}" x2="${frame.right}" y1="${at(y(value))}" y2="${at(y(value))}" stroke="#cbd5e1"/>${write([frame.left - 8, y(value) + 4], `${value} ${unit}`, { size: 12, anchor: 'end' })}`;
}

/** @param {Frame} frame @param {number} sessions @param {number} x */
function sizeMark(frame, sessions, x) {
  return `<line x1="${at(x)}" x2="${at(x)}" y1="${frame.bottom}" y2="${frame.bottom + 5}" stroke="${QUIET}"/>${write([x, frame.bottom + 20], short(sessions), { size: 12, anchor: 'middle' })}${write([x, frame.bottom + 36], short(sessions * growth.eventsPerSession), { size: 12, anchor: 'middle' })}`;
}

/**
 * @param {Line} line @param {{ readonly color: string, readonly shift: number }} check beside each other, since bars
 * would hide one another @param {(value: number) => number} x @param {(value: number) => number} y
 */
function drawn(line, { color, shift }, x, y) {
  const told = (/** @type {number} */ sessions) =>
    line.intercept + line.slope * (line.over === 'sessions' ? sessions : Math.log10(sessions));
  const between = Array.from({ length: 21 }, (_, step) => most * (growth.wanted / most) ** (step / 20));
  const path = (/** @type {readonly (readonly [number, number])[]} */ points) =>
    points.map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${at(px)} ${at(py)}`).join('');
  const end = x(growth.wanted);
  return [
    `<path d="${path(line.measured.map((value, index) => [x(sizes[index] ?? 1), y(value)]))}" fill="none" stroke="${color}" stroke-width="2"/>`,
    `<path d="${path(between.map((sessions) => [x(sessions), y(told(sessions))]))}" fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="6 5"/>`,
    ...line.measured.map(
      (value, index) => `<circle cx="${at(x(sizes[index] ?? 1))}" cy="${at(y(value))}" r="4" fill="${color}"/>`,
    ),
    `<line x1="${at(end + shift)}" x2="${at(end + shift)}" y1="${at(y(line.value - line.margin))}" y2="${at(y(line.value + line.margin))}" stroke="${color}" stroke-width="2"/>`,
    `<circle cx="${at(end)}" cy="${at(y(line.value))}" r="4.5" fill="#ffffff" stroke="${color}" stroke-width="2"/>`,
  ];
}

/**
 * Beside the last point of each line, one below the other. @param {readonly Line[]} lines @param {Frame} frame @param
 * {(value: number) => number} y
 */
function labels(lines, frame, y) {
  const wanted = lines
    .map((line, index) => ({ line, color: COLORS[index] ?? INK, top: y(line.value) }))
    .toSorted((a, b) => a.top - b.top);
  let lowest = frame.bottom - LABEL_STEP * (wanted.length - 0.5);
  let next = -Infinity;
  return wanted.map(({ line, color, top }) => {
    const place = Math.max(Math.min(top, lowest), next);
    next = place + LABEL_STEP;
    lowest += LABEL_STEP;
    const value = `${rounded(line.value)} ± ${rounded(line.margin)} ${line.unit}`;
    return `${write([frame.right + 12, place], line.name, { size: 12, color, weight: 700 })}${write([frame.right + 12, place + 15], value, { size: 12, color: INK })}`;
  });
}

const [times, bytes] = [
  growth.lines.filter(({ unit }) => unit === 'ms'),
  growth.lines.filter(({ unit }) => unit === 'GB'),
];
const events = short(growth.wanted * growth.eventsPerSession);
const title = `PostgreSQL: how long calls take and how much is stored, up to ${short(growth.wanted)} sessions and ${events} events`;
const described = growth.lines
  .map(
    ({ name, unit, measured, value, margin }) =>
      `${name}: ${measured.map(rounded).join(', ')} ${unit} measured, ${rounded(value)} ± ${rounded(margin)} ${unit} extrapolated`,
  )
  .join('; ');
const svg = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description" font-family="ui-sans-serif, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif">`,
  `<title id="title">${title}</title>`,
  `<desc id="description">Measured at ${sizes.map(short).join(', ')} sessions, extrapolated beyond. ${described}.</desc>`,
  `<rect x="1" y="1" width="${WIDTH - 2}" height="${HEIGHT - 2}" rx="14" fill="#ffffff" stroke="#cbd5e1"/>`,
  ...panel({ left: 80, right: 270, top: 76, bottom: 350 }, 'How long a call takes', times),
  ...panel({ left: 548, right: 722, top: 76, bottom: 350 }, 'How much is stored', bytes),
  ...[
    `Below each panel: sessions, and the events of all of them, ${growth.eventsPerSession} each. Filled points, full lines: measured, medians of calls one after the other.`,
    'Hollow points, broken lines: extrapolated by the straight line that fits best, for calls over the logarithm of the size, for bytes over the size.',
    'Bars and ±: where 19 of 20 further points would lie, if the line is true. All that was measured lay in memory: what does not is slower than the line.',
  ].map((words, index) => write([24, 414 + index * 19], words, { size: 12 })),
  '</svg>',
];
writeFileSync(join(folder, 'postgres-growth.svg'), `${svg.filter((line) => line !== '').join('\n')}\n`);
writeFileSync(join(folder, 'postgres-growth.json'), text);
