// @ts-check
/**
 * The header of a machine's file says what holds in each state. The words are the chart's, its `description`s: this
 * writes them below the picture, so that nothing is described twice. `--check` writes nothing and names what differs.
 * Usage: node scripts/chart-headers.mjs [--check]
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript-api';

const COLUMNS = 120;
/** The first line of a state in the list: `running.stepping:  what holds`. */
const FIRST_LINE = /^ \* [a-z_]+(?:\.[a-z_]+)*: {2,}\S/;

/** Whether a line goes on with one of the list: it begins in the same column. @param {string} line @param {string} first */
function isContinued(line, first) {
  const column = (/^ \* [a-z_.]+: +/.exec(first) ?? [''])[0].length;
  return line.startsWith(` * ${' '.repeat(column - 3)}`) && /\S/.test(line[column] ?? '');
}

/**
 * The file with the states of its chart below the picture of its header; the file itself where it has no chart.
 * @param {string} text
 */
export function withStates(text) {
  const states = statesIn(text);
  const [header] = /^\/\*\*[^]*?\n \*\/\n/.exec(text) ?? [];
  if (header === undefined || states.length === 0) return text;
  const lines = header.split('\n');
  const first = lines.findIndex((line) => FIRST_LINE.test(line));
  if (first < 0) return text;
  const isOfList = (/** @type {string} */ line) => FIRST_LINE.test(line) || isContinued(line, lines[first] ?? '');
  let end = first;
  while (isOfList(lines[end] ?? '')) end += 1;
  const width = Math.max(...states.map(({ path }) => path.length)) + 3;
  const list = states.flatMap(({ path, description }) => filled(`${path}:`.padEnd(width), description));
  return [...lines.slice(0, first), ...list, ...lines.slice(end)].join('\n') + text.slice(header.length);
}

/**
 * Every state that has a description, in the order of the chart.
 * @param {string} text
 * @returns {{ readonly path: string, readonly description: string }[]}
 */
function statesIn(text) {
  const source = ts.createSourceFile('chart.ts', text, ts.ScriptTarget.Latest, true);
  /** @type {{ path: string, description: string }[]} */
  const states = [];
  /** @param {ts.ObjectLiteralExpression} object @param {string} name */
  const valueOf = (object, name) =>
    object.properties.filter(ts.isPropertyAssignment).find((property) => property.name.getText(source) === name)
      ?.initializer;
  /** @param {ts.ObjectLiteralExpression} object @param {readonly string[]} parents */
  const collect = (object, parents) => {
    for (const property of object.properties) {
      if (!ts.isPropertyAssignment(property) || !ts.isObjectLiteralExpression(property.initializer)) continue;
      const path = [...parents, property.name.getText(source)];
      const description = valueOf(property.initializer, 'description');
      if (description !== undefined && ts.isStringLiteralLike(description))
        states.push({ path: path.join('.'), description: description.text });
      const inner = valueOf(property.initializer, 'states');
      if (inner !== undefined && ts.isObjectLiteralExpression(inner)) collect(inner, path);
    }
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    const isStates = ts.isPropertyAssignment(node) && node.name.getText(source) === 'states';
    if (isStates && ts.isObjectLiteralExpression(node.initializer)) collect(node.initializer, []);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return states;
}

/** @param {string} label @param {string} words */
function filled(label, words) {
  const lines = [` * ${label}`];
  for (const word of words.split(' ')) {
    const line = lines.at(-1) ?? '';
    const separator = line.endsWith(' ') ? '' : ' ';
    if (line.length + separator.length + word.length <= COLUMNS) lines[lines.length - 1] = `${line}${separator}${word}`;
    else lines.push(` * ${' '.repeat(label.length)}${word}`);
  }
  return lines;
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Every file of a chart of ours; `explored-machine.ts` makes copies of charts. */
export function chartFiles() {
  const machines = join(root, 'src/machines');
  return readdirSync(machines, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-machine.ts') && !name.endsWith('explored-machine.ts'))
    .map((name) => join(machines, name))
    .toSorted();
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const files = chartFiles().map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const changed = files.filter(({ text }) => withStates(text) !== text);
  for (const { path, text } of changed) {
    if (!argv.includes('--check')) writeFileSync(path, withStates(text));
    console.log(`${relative(root, path)}: the states in its header are not those of its chart`);
  }
  if (argv.includes('--check') && changed.length > 0) exit(1);
}
