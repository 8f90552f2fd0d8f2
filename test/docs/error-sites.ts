/**
 * Every place of src/ that makes a RuntimeError, with what its code, category, message and hint can be: read from the
 * source by the TypeScript compiler. What a function takes as a parameter is searched for where it is called.
 */
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript-api';
import { checkout } from './pages.ts';
import { nameOf } from './source-names.ts';
import { ANYWHERE, SourceValues, extendedBy } from './source-values.ts';
import type { Call, Frame, Value } from './source-values.ts';

/** One way in which one error comes about. In texts `{name}` is put in at run time. */
export interface ErrorSite {
  /** Of the caller that knows the code; relative to src/. */
  readonly file: string;
  /** Of the function that makes the error, as `file: function`. */
  readonly maker: string;
  /** Undefined where the code of another error is handed on. */
  readonly code: string | undefined;
  /** None where it is only told as a reason. */
  readonly categories: readonly string[];
  readonly recoverable: string | undefined;
  readonly messages: readonly string[];
  readonly hints: readonly string[];
}

/** How many functions may lie between a caller that knows the code and the place that makes the error. */
const MAX_CALLERS = 5;
const CODE = /^[A-Z][A-Z0-9_]+$/;
const CATEGORY = /^[a-z][a-z_]+$/;
export const SRC = join(checkout, 'src');

export function errorSites(): ErrorSite[] {
  const source = new SourceValues(sourceFiles().map((file) => join(SRC, file)));
  const thrown = source
    .all(isSink)
    .flatMap((sink) => expanded(source, { sink, frame: ANYWHERE, origin: sink, left: MAX_CALLERS }));
  return [...thrown, ...source.all(isReason).flatMap((reason) => told(source, reason))];
}

/** What is told as an error and was none before: `{ code, message }`. */
function isReason(node: ts.Node): node is ts.ObjectLiteralExpression {
  if (!ts.isObjectLiteralExpression(node)) return false;
  const names = node.properties.map(({ name }) => (name !== undefined && ts.isIdentifier(name) ? name.text : ''));
  return names.includes('code') && names.includes('message') && !names.includes('category');
}

function told(source: SourceValues, reason: ts.ObjectLiteralExpression): ErrorSite[] {
  const field = (name: string): string[] => textsOf(source.propertyOf(reason, name, ANYWHERE));
  const site = { maker: `${fileOf(reason)}: ${functionAround(reason)}`, file: fileOf(reason), categories: [] };
  return field('code')
    .filter((code) => CODE.test(code))
    .map((code) => ({ ...site, code, recoverable: undefined, messages: field('message'), hints: field('hint') }));
}

/** What runs in Node.js, relative to src/. */
export function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith(join('adapters', 'inspector-page')))
    .toSorted();
}

/** `new RuntimeError(…)`, and `super(…)` in what extends it. */
function isSink(node: ts.Node): node is Call {
  if (ts.isNewExpression(node)) return ts.isIdentifier(node.expression) && node.expression.text === 'RuntimeError';
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.SuperKeyword) return false;
  return extendedBy(node)?.getText() === 'RuntimeError';
}

interface Making {
  readonly sink: Call;
  readonly frame: Frame;
  /** The outermost call that is known so far. */
  readonly origin: Call;
  readonly left: number;
}

/** What is known where the error is made, or, where that depends on who calls, at each caller. */
function expanded(source: SourceValues, making: Making): ErrorSite[] {
  const { sink, frame, left } = making;
  const [code, message, options] = sink.arguments ?? [];
  const { answer: open, choices } = source.choosing(() => [
    ...(code === undefined ? [] : source.valuesOf(code, frame)),
    ...(message === undefined ? [] : source.valuesOf(message, frame)),
    ...(options === undefined
      ? []
      : [...source.propertyOf(options, 'hint', frame), ...source.propertyOf(options, 'category', frame)]),
  ]);
  const [choice = []] = choices;
  if (choice.length > 0)
    return choice.flatMap((chosen) => {
      const without = new Set([...frame.without, ...choice.filter((other) => other !== chosen)]);
      return expanded(source, { ...making, frame: { ...frame, without } });
    });
  for (const value of left === 0 ? [] : open) {
    if (value.kind !== 'parameter') continue;
    const { owner } = value;
    const calls = source.callersOf(owner);
    if (calls.length > 0)
      return calls.flatMap((origin) =>
        expanded(source, { sink, origin, frame: source.framed(frame, owner, origin), left: left - 1 }),
      );
  }
  return sitesOf(source, making);
}

function sitesOf(source: SourceValues, { sink, frame, origin }: Making): ErrorSite[] {
  const [code, message, options] = sink.arguments ?? [];
  const field = (name: string): string[] =>
    options === undefined ? [] : textsOf(source.propertyOf(options, name, frame));
  const site = {
    file: fileOf(origin),
    maker: `${fileOf(sink)}: ${functionAround(sink)}`,
    categories: field('category'),
    recoverable: field('recoverable')[0],
    messages: message === undefined ? [] : textsOf(source.valuesOf(message, frame)),
    hints: field('hint'),
  };
  if (code === undefined) return [];
  // Where not even the category can be read from the source, the whole error is one of another place.
  if (!site.categories.some((category) => CATEGORY.test(category))) return [{ ...site, code: undefined }];
  return codesOf(source, code, frame).map((each) => ({ ...site, code: each }));
}

function codesOf(source: SourceValues, node: ts.Expression, frame: Frame): (string | undefined)[] {
  return [
    ...new Set(
      source.valuesOf(node, frame).flatMap((value) => {
        if (value.kind === 'absent') return [];
        if (value.kind === 'text') return CODE.test(value.text) ? [value.text] : [undefined];
        const literals = source.literalsOf(value.node).filter((text) => CODE.test(text));
        return literals.length > 0 ? literals : [undefined];
      }),
    ),
  ];
}

function textsOf(values: readonly Value[]): string[] {
  return [
    ...new Set(
      values.flatMap((value) => {
        if (value.kind === 'absent') return [];
        if (value.kind === 'text') return [value.text];
        const name = nameOf(value.node);
        return [name === '…' ? name : `{${name}}`];
      }),
    ),
  ];
}

function fileOf(node: ts.Node): string {
  return relative(SRC, node.getSourceFile().fileName).split(sep).join('/');
}

function functionAround(node: ts.Node): string {
  const around = ts.findAncestor(
    node,
    (each): each is ts.FunctionDeclaration | ts.MethodDeclaration | ts.ClassDeclaration =>
      ts.isFunctionDeclaration(each) || ts.isMethodDeclaration(each) || ts.isClassDeclaration(each),
  );
  return around?.name?.getText() ?? 'module';
}
