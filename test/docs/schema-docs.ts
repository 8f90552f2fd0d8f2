/** What the comments above the fields of schemas and interfaces say, read from the source, by the path of the field. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript-api';
import { checkout } from './pages.ts';

export interface DocumentedField {
  readonly path: string;
  readonly text: string;
}

/** A field of an interface, whose type is shown as it is written. */
export interface InterfaceField extends DocumentedField {
  readonly type: string;
  readonly isOptional: boolean;
}

/** `mounts[].path`: a field of each of a list. `secrets.NAME.hosts`: of whatever is named so. */
const EACH = '[]';
const NAMED = '.NAME';

/** The fields of the schema that `name` holds in a file of src/. */
export function schemaDocs(file: string, name: string): Map<string, string> {
  const docs = new Map<string, string>();
  const walk = (node: ts.Expression, source: ts.SourceFile, prefix: string): void => {
    if (ts.isIdentifier(node)) {
      const found = constantOf(source, node.text);
      if (found !== undefined) walk(found.node, found.source, prefix);
    } else if (ts.isObjectLiteralExpression(node)) {
      for (const property of node.properties) walkProperty(property, source, prefix);
    } else if (ts.isArrayLiteralExpression(node)) {
      for (const element of node.elements) walk(element, source, prefix);
    } else if (ts.isCallExpression(node)) walkCall(node, source, prefix);
  };
  const walkCall = (node: ts.CallExpression, source: ts.SourceFile, prefix: string): void => {
    if (!ts.isPropertyAccessExpression(node.expression)) return;
    const { expression: base, name: method } = node.expression;
    const [first, second] = node.arguments;
    if (base.getText(source) !== 'z') walk(base, source, prefix);
    else if (method.text === 'array' && first !== undefined) walk(first, source, `${prefix}${EACH}`);
    else if (method.text === 'record' && second !== undefined) walk(second, source, `${prefix}${NAMED}`);
    else if (first !== undefined) walk(first, source, prefix);
  };
  const walkProperty = (property: ts.ObjectLiteralElementLike, source: ts.SourceFile, prefix: string): void => {
    if (ts.isSpreadAssignment(property)) return walk(property.expression, source, prefix);
    if (property.name === undefined) return;
    const path = pathBelow(prefix, property.name.getText(source));
    const text = docOf(property, source);
    if (text !== '') docs.set(path, text);
    if (ts.isPropertyAssignment(property)) walk(property.initializer, source, path);
    if (ts.isShorthandPropertyAssignment(property)) walk(property.name, source, path);
  };
  const start = constantOf(parsed(file), name);
  if (start === undefined) throw new Error(`src/${file} has no constant ${name}`);
  walk(start.node, start.source, '');
  return docs;
}

/** The fields of an interface in a file of src/. */
export function interfaceFields(file: string, name: string): InterfaceField[] {
  const source = parsed(file);
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  if (found === undefined) throw new Error(`src/${file} has no interface ${name}`);
  return found.members.filter(ts.isPropertySignature).map((member) => ({
    path: member.name.getText(source),
    type: (member.type?.getText(source) ?? '').replaceAll(/\s+/g, ' ').replace(/ \| undefined$/, ''),
    isOptional: member.questionToken !== undefined,
    text: docOf(member, source),
  }));
}

/** The number or text that a schema has as its default, by field; only for schemas that no module hands out. */
export function defaultsOf(file: string, name: string): Map<string, string> {
  const start = constantOf(parsed(file), name);
  const text = start?.node.getText(start.source) ?? '';
  return new Map(
    [...text.matchAll(/^\s*(\w+): .*\.default\(([^()]*)\)/gm)].map(([, field = '', value = '']) => [field, value]),
  );
}

export function pathBelow(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}.${name}`;
}

const files = new Map<string, ts.SourceFile>();

function parsed(file: string): ts.SourceFile {
  const known = files.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(checkout, 'src', file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  files.set(file, source);
  return source;
}

/** Of this file, or of the one that it is imported from. */
function constantOf(
  source: ts.SourceFile,
  name: string,
): { readonly node: ts.Expression; readonly source: ts.SourceFile } | undefined {
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement))
      for (const { name: own, initializer } of statement.declarationList.declarations)
        if (initializer !== undefined && own.getText(source) === name) return { node: initializer, source };
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    const isNamed =
      bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.some((one) => one.name.text === name);
    const { text: from } = statement.moduleSpecifier;
    if (isNamed && from.startsWith('.')) return constantOf(parsed(join(dirname(source.fileName), from)), name);
  }
  return undefined;
}

/** The comment above, on one line. */
function docOf(node: ts.Node, source: ts.SourceFile): string {
  const comments = ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [];
  const last = comments.map(({ pos, end }) => source.text.slice(pos, end)).findLast((text) => text.startsWith('/**'));
  return (last ?? '')
    .replaceAll(/^\/\*\*|\*\/$/g, '')
    .replaceAll(/^\s*\*? ?/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/ @(?:returns|throws) .*$/, '')
    .trim();
}
