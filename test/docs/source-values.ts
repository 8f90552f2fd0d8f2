/**
 * What expressions of the source can be, as far as it can be read without running it: constants, both branches of a
 * choice, fields of objects, what functions return, and, in a frame, what callers hand in.
 */
import { dirname, join } from 'node:path';
import ts from 'typescript-api';
import { isWrapper, nameOf } from './source-names.ts';

export type Call = ts.CallExpression | ts.NewExpression;

export type Value =
  /** Text, with `{name}` and `{…}` for what is put in at run time. */
  | { readonly kind: 'text'; readonly text: string }
  /** An expression that is examined no further, such as an object. */
  | { readonly kind: 'expression'; readonly node: ts.Expression }
  /** What the callers of `owner` hand in. */
  | { readonly kind: 'parameter'; readonly node: ts.Expression; readonly owner: ts.SignatureDeclaration }
  | { readonly kind: 'absent' }
  /** `isHolder`: it is a field of `node` that is not known. */
  | { readonly kind: 'unknown'; readonly node: ts.Expression; readonly isHolder?: true };

/** What is known of the way that is being followed. */
export interface Frame {
  /** The arguments of its calls, by parameter; undefined where none is given. */
  readonly given: ReadonlyMap<ts.ParameterDeclaration, ts.Expression | undefined>;
  /** Objects that were not chosen, such as the other rows of a table. */
  readonly without: ReadonlySet<ts.Node>;
}

export const ANYWHERE: Frame = { given: new Map(), without: new Set() };

const ABSENT: Value = { kind: 'absent' };
const MAX_DEPTH = 24;
/** A type with more objects than these is no table of errors. */
const MAX_OBJECTS = 12;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  strict: true,
  noEmit: true,
  noLib: true,
  types: [],
};

export class SourceValues {
  readonly #checker: ts.TypeChecker;
  readonly #files: readonly ts.SourceFile[];
  readonly #calls = new Map<string, Call[]>();
  readonly #objects = new Map<ts.Symbol, ts.ObjectLiteralExpression[]>();
  #choices: (readonly ts.Node[])[] = [];

  /** Only these files are read: no library and no package, which makes it fast. */
  constructor(fileNames: readonly string[]) {
    const host = ts.createCompilerHost(OPTIONS);
    host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
    const known = new Set(fileNames);
    host.resolveModuleNameLiterals = (literals, containing) =>
      literals.map(({ text }) => {
        const resolvedFileName = join(dirname(containing), text);
        return known.has(resolvedFileName)
          ? { resolvedModule: { resolvedFileName, extension: ts.Extension.Ts, isExternalLibraryImport: false } }
          : { resolvedModule: undefined };
      });
    const program = ts.createProgram([...fileNames], OPTIONS, host);
    this.#checker = program.getTypeChecker();
    this.#files = program.getSourceFiles().filter(({ fileName }) => known.has(fileName));
    for (const call of this.all(isCall)) {
      const name = calledName(call);
      this.#calls.set(name, [...(this.#calls.get(name) ?? []), call]);
    }
    for (const object of this.all(hasCode))
      for (const symbol of symbolsOf(this.#checker.getContextualType(object)))
        this.#objects.set(symbol, [...(this.#objects.get(symbol) ?? []), object]);
  }

  all<Found extends ts.Node>(isWanted: (node: ts.Node) => node is Found): Found[] {
    const found: Found[] = [];
    const visit = (node: ts.Node): void => {
      if (isWanted(node)) found.push(node);
      ts.forEachChild(node, visit);
    };
    for (const file of this.#files) visit(file);
    return found;
  }

  callersOf(owner: ts.SignatureDeclaration): readonly Call[] {
    const name = nameOfFunction(owner);
    if (name === undefined) return [];
    const symbol = this.#symbolOf(name);
    return (this.#calls.get(name.text) ?? []).filter((call) => this.#symbolOf(calleeOf(call)) === symbol);
  }

  /** `frame` with what `call` hands to `owner`. */
  framed(frame: Frame, owner: ts.SignatureDeclaration, call: Call): Frame {
    const given = call.arguments ?? [];
    const own = owner.parameters.map((parameter, index) => [parameter, given[index]] as const);
    return { ...frame, given: new Map([...frame.given, ...own]) };
  }

  /** What `read` answers, and the objects between which it had to choose, such as the rows of a table. */
  choosing<Answer>(read: () => Answer): { readonly answer: Answer; readonly choices: readonly (readonly ts.Node[])[] } {
    this.#choices = [];
    return { answer: read(), choices: this.#choices };
  }

  /** The text constants that the type of an expression is made of; none when it is any other type. */
  literalsOf(node: ts.Expression): string[] {
    const type = this.#checker.getTypeAtLocation(node);
    const parts = type.isUnion() ? type.types : [type];
    return parts.every((part) => part.isStringLiteral()) ? parts.map(({ value }) => value) : [];
  }

  valuesOf(given: ts.Expression, frame: Frame, depth = 0): Value[] {
    const node = unwrapped(given);
    if (depth > MAX_DEPTH) return [{ kind: 'unknown', node }];
    const next = depth + 1;
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [{ kind: 'text', text: node.text }];
    if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword)
      return [{ kind: 'text', text: node.getText() }];
    if (ts.isTemplateExpression(node)) return this.#templates(node, frame, next);
    if (ts.isConditionalExpression(node))
      return this.#branches(node, frame, next).flatMap((branch) => this.valuesOf(branch, frame, next));
    if (ts.isBinaryExpression(node)) return this.#binary(node, frame, next);
    if (ts.isIdentifier(node)) return this.#identifier(node, frame, next);
    if (ts.isPropertyAccessExpression(node)) return this.#property(node, frame, next);
    if (ts.isElementAccessExpression(node)) return this.#element(node, frame, next);
    if (ts.isCallExpression(node)) return this.#returned(node, frame, next);
    if (ts.isAwaitExpression(node)) return this.valuesOf(node.expression, frame, next);
    return [{ kind: 'expression', node }];
  }

  /** What the field `name` of an object can be: absent, where the object has none. */
  propertyOf(object: ts.Expression, name: string, frame: Frame, depth = 0): Value[] {
    if (depth > MAX_DEPTH) return [];
    const all = this.valuesOf(object, frame, depth + 1).flatMap((value) => this.#objectsOf(value));
    const chosen = all.filter((value) => !('node' in value && frame.without.has(value.node)));
    const choice = [...new Set(chosen.flatMap((value) => (isObject(value) ? [value.node] : [])))];
    if (choice.length > 1) this.#choices.push(choice);
    // The object that was chosen may be made from one that was not.
    const objects = chosen.length > 0 ? chosen : all;
    return objects.flatMap((value): Value[] => {
      if (value.kind === 'parameter' || value.kind === 'absent') return [value];
      if (isObject(value)) return this.#fieldOf(value.node, name, frame, depth + 1);
      return 'node' in value ? [{ kind: 'unknown', node: value.node, isHolder: true }] : [];
    });
  }

  /** Where an object cannot be followed to where it is made: those that are made as its type. */
  #objectsOf(value: Value): Value[] {
    if (value.kind !== 'unknown') return [value];
    const objects = symbolsOf(this.#checker.getTypeAtLocation(value.node)).flatMap(
      (symbol) => this.#objects.get(symbol) ?? [],
    );
    if (objects.length === 0 || objects.length > MAX_OBJECTS) return [value];
    return objects.map((node) => ({ kind: 'expression', node }));
  }

  #fieldOf(object: ts.ObjectLiteralExpression, name: string, frame: Frame, depth: number): Value[] {
    for (const property of [...object.properties].toReversed()) {
      if (ts.isPropertyAssignment(property) && fieldName(property.name) === name)
        return this.valuesOf(property.initializer, frame, depth);
      if (ts.isShorthandPropertyAssignment(property) && property.name.text === name)
        return this.#symbolValues(
          this.#checker.getShorthandAssignmentValueSymbol(property),
          property.name,
          frame,
          depth,
        );
      if (!ts.isSpreadAssignment(property)) continue;
      const spread = this.propertyOf(property.expression, name, frame, depth);
      if (spread.some(({ kind }) => kind !== 'absent')) return spread;
    }
    return [ABSENT];
  }

  /** One where the condition is about constants, else both. */
  #branches(
    { condition, whenTrue, whenFalse }: ts.ConditionalExpression,
    frame: Frame,
    depth: number,
  ): ts.Expression[] {
    const holds = this.#truthOf(condition, frame, depth);
    return holds === undefined ? [whenTrue, whenFalse] : [holds ? whenTrue : whenFalse];
  }

  /** Whether a comparison of constants holds; undefined where that is not known. */
  #truthOf(given: ts.Expression, frame: Frame, depth: number): boolean | undefined {
    const condition = unwrapped(given);
    if (!ts.isBinaryExpression(condition)) return undefined;
    const { BarBarToken, EqualsEqualsEqualsToken } = ts.SyntaxKind;
    const { left, right, operatorToken } = condition;
    if (operatorToken.kind === BarBarToken) {
      const sides = [left, right].map((side) => this.#truthOf(side, frame, depth));
      return sides.includes(true) ? true : sides.includes(undefined) ? undefined : false;
    }
    if (operatorToken.kind !== EqualsEqualsEqualsToken) return undefined;
    const [one, other] = [left, right].map((side) => {
      const values = this.valuesOf(side, frame, depth);
      const [only] = values;
      return values.length === 1 && only?.kind === 'text' ? only.text : undefined;
    });
    return one === undefined || other === undefined ? undefined : one === other;
  }

  /** Puts what a statement returns into `found`, without the functions inside. @returns whether it ends there for sure */
  #returns(node: ts.Node, frame: Frame, found: ts.Expression[]): boolean {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isReturnStatement(node)) {
      if (node.expression !== undefined) found.push(node.expression);
      return true;
    }
    if (ts.isBlock(node)) return node.statements.some((statement) => this.#returns(statement, frame, found));
    if (ts.isIfStatement(node)) {
      const holds = this.#truthOf(node.expression, frame, 0);
      const ends = (branch: ts.Statement | undefined): boolean =>
        branch !== undefined && this.#returns(branch, frame, found);
      if (holds !== undefined) return ends(holds ? node.thenStatement : node.elseStatement);
      return [ends(node.thenStatement), ends(node.elseStatement)].every(Boolean);
    }
    ts.forEachChild(node, (child) => void this.#returns(child, frame, found));
    return false;
  }

  #binary(node: ts.BinaryExpression, frame: Frame, depth: number): Value[] {
    const { AsteriskToken, BarBarToken, MinusToken, QuestionQuestionToken, PlusToken } = ts.SyntaxKind;
    const operator = node.operatorToken.kind;
    if (operator === BarBarToken || operator === QuestionQuestionToken) {
      const left = this.valuesOf(node.left, frame, depth);
      const sure = left.filter(({ kind }) => kind !== 'absent');
      const isSure = sure.length === left.length && sure.every((value) => this.#isThere(value));
      return isSure ? sure : [...sure, ...this.valuesOf(node.right, frame, depth)];
    }
    if (operator === AsteriskToken || operator === MinusToken) return this.#computed(node, frame, depth);
    if (operator !== PlusToken || ts.isNumericLiteral(node.right)) return [{ kind: 'unknown', node }];
    const text = [node.left, node.right].map((part) => this.#spanText(part, frame, depth)).join('');
    return [{ kind: 'text', text }];
  }

  /** Of limits, which are written as `8 * 1024 * 1024`. */
  #computed(node: ts.BinaryExpression, frame: Frame, depth: number): Value[] {
    const [left = Number.NaN, right = Number.NaN] = [node.left, node.right].map((part) =>
      ts.isPropertyAccessExpression(part) && part.name.text === 'length'
        ? this.#finite(part.expression, frame, depth)[0]?.length
        : Number(this.#finite(part, frame, depth)[0]),
    );
    const result = node.operatorToken.kind === ts.SyntaxKind.AsteriskToken ? left * right : left - right;
    return [Number.isNaN(result) ? { kind: 'unknown', node } : { kind: 'text', text: String(result) }];
  }

  /** Whether it is there for sure, so that what follows `??` does not count. */
  #isThere(value: Value): boolean {
    if (value.kind !== 'unknown' && value.kind !== 'parameter') return value.kind === 'text';
    const type = this.#checker.getTypeAtLocation(value.node);
    return !(type.isUnion() ? type.types : [type]).some(({ flags }) => (flags & ts.TypeFlags.Undefined) !== 0);
  }

  #identifier(node: ts.Identifier, frame: Frame, depth: number): Value[] {
    if (node.text === 'undefined') return [ABSENT];
    return this.#symbolValues(this.#symbolOf(node), node, frame, depth);
  }

  #symbolValues(symbol: ts.Symbol | undefined, node: ts.Identifier, frame: Frame, depth: number): Value[] {
    const declaration = symbol?.valueDeclaration;
    if (declaration === undefined) return [{ kind: 'unknown', node }];
    if (ts.isBindingElement(declaration)) return this.#bound(declaration, node, frame, depth);
    if (ts.isParameter(declaration)) return this.#parameter(declaration, node, frame, depth);
    if (!ts.isVariableDeclaration(declaration) || declaration.initializer === undefined)
      return [{ kind: 'unknown', node }];
    return this.valuesOf(declaration.initializer, frame, depth);
  }

  #parameter(declaration: ts.ParameterDeclaration, node: ts.Expression, frame: Frame, depth: number): Value[] {
    if (!frame.given.has(declaration)) return [{ kind: 'parameter', node, owner: declaration.parent }];
    const argument = frame.given.get(declaration) ?? declaration.initializer;
    return argument === undefined ? [ABSENT] : this.valuesOf(argument, frame, depth);
  }

  /** What a name stands for that was taken out of an object: `{ code }`. */
  #bound(element: ts.BindingElement, node: ts.Identifier, frame: Frame, depth: number): Value[] {
    const name = fieldName(element.propertyName ?? element.name);
    const whole = element.parent.parent;
    if (name === undefined || element.dotDotDotToken !== undefined || !ts.isObjectBindingPattern(element.parent))
      return [{ kind: 'unknown', node }];
    const fallback = element.initializer === undefined ? [] : this.valuesOf(element.initializer, frame, depth);
    const values = this.#wholeField(whole, name, node, frame, depth);
    const sure = values.filter(({ kind }) => kind !== 'absent');
    return sure.length === values.length || fallback.length === 0 ? values : [...sure, ...fallback];
  }

  #wholeField(
    whole: ts.BindingElement | ts.ParameterDeclaration | ts.VariableDeclaration,
    name: string,
    node: ts.Identifier,
    frame: Frame,
    depth: number,
  ): Value[] {
    if (ts.isVariableDeclaration(whole))
      return whole.initializer === undefined
        ? [{ kind: 'unknown', node }]
        : renamed(this.propertyOf(whole.initializer, name, frame, depth), node);
    if (ts.isBindingElement(whole)) return [{ kind: 'unknown', node }];
    if (!frame.given.has(whole)) return [{ kind: 'parameter', node, owner: whole.parent }];
    const argument = frame.given.get(whole) ?? whole.initializer;
    return argument === undefined ? [ABSENT] : renamed(this.propertyOf(argument, name, frame, depth), node);
  }

  #property(node: ts.PropertyAccessExpression, frame: Frame, depth: number): Value[] {
    const values = this.propertyOf(node.expression, node.name.text, frame, depth);
    return values.length === 0 ? [{ kind: 'unknown', node }] : renamed(values, node);
  }

  /** Any row of a table. */
  #element(node: ts.ElementAccessExpression, frame: Frame, depth: number): Value[] {
    const rows = this.valuesOf(node.expression, frame, depth).flatMap((value): ts.Expression[] => {
      if (value.kind !== 'expression') return [];
      if (ts.isArrayLiteralExpression(value.node)) return [...value.node.elements];
      if (!ts.isObjectLiteralExpression(value.node)) return [];
      return value.node.properties.flatMap((row) => (ts.isPropertyAssignment(row) ? [row.initializer] : []));
    });
    return rows.length === 0 ? [{ kind: 'unknown', node }] : rows.flatMap((row) => this.valuesOf(row, frame, depth));
  }

  #returned(node: ts.CallExpression, frame: Frame, depth: number): Value[] {
    const callee = node.expression;
    if (callee.getText() === 'Object.freeze' && node.arguments[0] !== undefined)
      return this.valuesOf(node.arguments[0], frame, depth);
    if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'toUpperCase')
      return this.#finite(callee.expression, frame, depth).map((text) => ({ kind: 'text', text: text.toUpperCase() }));
    if (ts.isPropertyAccessExpression(callee) && callee.name.text === 'join')
      return this.#joined(node, callee.expression, frame, depth);
    const declaration = isWrapper(callee) ? undefined : this.#functionOf(callee);
    if (declaration?.body === undefined) return [{ kind: 'unknown', node }];
    const inner = this.framed(frame, declaration, node);
    const results: ts.Expression[] = [];
    if (ts.isBlock(declaration.body)) this.#returns(declaration.body, inner, results);
    else results.push(declaration.body);
    const values = results.flatMap((result) => this.valuesOf(result, inner, depth));
    return values.length === 0 ? [{ kind: 'unknown', node }] : values;
  }

  /** A list of constants in one text. */
  #joined(node: ts.CallExpression, list: ts.Expression, frame: Frame, depth: number): Value[] {
    const [only, ...more] = this.valuesOf(list, frame, depth);
    const elements =
      only?.kind === 'expression' && more.length === 0 && ts.isArrayLiteralExpression(only.node)
        ? only.node.elements
        : [];
    const texts = elements.map((element) => (ts.isStringLiteralLike(element) ? element.text : undefined));
    const isKnown = texts.length > 0 && !texts.includes(undefined);
    const separator = node.arguments[0];
    return isKnown && separator !== undefined && ts.isStringLiteralLike(separator)
      ? [{ kind: 'text', text: texts.join(separator.text) }]
      : [{ kind: 'unknown', node }];
  }

  #functionOf(callee: ts.Expression): ts.FunctionDeclaration | ts.ArrowFunction | undefined {
    if (!ts.isIdentifier(callee)) return undefined;
    const declaration = this.#symbolOf(callee)?.valueDeclaration;
    if (declaration === undefined) return undefined;
    if (ts.isFunctionDeclaration(declaration)) return declaration;
    if (!ts.isVariableDeclaration(declaration) || declaration.initializer === undefined) return undefined;
    return ts.isArrowFunction(declaration.initializer) ? declaration.initializer : undefined;
  }

  /** A template; several where it is a name such as `TASK_${reason}` and its parts are known. */
  #templates(node: ts.TemplateExpression, frame: Frame, depth: number): Value[] {
    const isName = [node.head, ...node.templateSpans.map(({ literal }) => literal)].every(({ text }) =>
      /^[A-Z_]*$/.test(text),
    );
    const [span] = node.templateSpans;
    if (isName && node.templateSpans.length === 1 && span !== undefined) {
      const parts = this.#finite(span.expression, frame, depth);
      if (parts.length > 0)
        return parts.map((part) => ({ kind: 'text', text: `${node.head.text}${part}${span.literal.text}` }));
    }
    const spans = node.templateSpans.map(
      ({ expression, literal }) => `${this.#spanText(expression, frame, depth)}${literal.text}`,
    );
    return [{ kind: 'text', text: `${node.head.text}${spans.join('')}` }];
  }

  #finite(node: ts.Expression, frame: Frame, depth: number): string[] {
    const values = this.valuesOf(node, frame, depth);
    const texts = values.flatMap((value) => (value.kind === 'text' && !value.text.includes('{') ? [value.text] : []));
    return texts.length === values.length && texts.length > 0 ? texts : this.literalsOf(node);
  }

  /** Constants are written out; all else is named. */
  #spanText(node: ts.Expression, frame: Frame, depth: number): string {
    const values = this.valuesOf(node, frame, depth).filter(({ kind }) => kind !== 'absent');
    const texts = [...new Set(values.flatMap((value) => (value.kind === 'text' ? [value.text] : [])))];
    if (texts.length === 1 && values.length === 1) return texts[0] ?? '';
    // Of two, each is told, where it is no longer than a sentence.
    const limit = texts.length === 2 ? 120 : 40;
    const areShort = texts.every((text) => text.length < limit && !/[{}]/.test(text));
    if (values.length > 0 && values.every(({ kind }) => kind === 'text') && texts.length <= 3 && areShort)
      return `{${texts.filter((text) => text !== '').join(' | ')}${texts.includes('') ? '?' : ''}}`;
    const name = nameOf(node);
    const [only] = values;
    return `{${name === '…' && only !== undefined && 'node' in only ? nameOf(only.node) : name}}`;
  }

  #symbolOf(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(node);
    if (symbol === undefined || (symbol.flags & ts.SymbolFlags.Alias) === 0) return symbol;
    return this.#checker.getAliasedSymbol(symbol);
  }
}

function isObject(value: Value): value is Value & { readonly node: ts.ObjectLiteralExpression } {
  return value.kind === 'expression' && ts.isObjectLiteralExpression(value.node);
}

/** What is not known of a field is called as the field is. */
function renamed(values: readonly Value[], node: ts.Expression): Value[] {
  return values.map((value) =>
    value.kind === 'unknown' && value.isHolder === true ? { kind: 'unknown', node } : value,
  );
}

/** Of its class, where it is a constructor; of the constant that holds it, where it has no name. */
function nameOfFunction(owner: ts.SignatureDeclaration): ts.Identifier | ts.PrivateIdentifier | undefined {
  const named = ts.isConstructorDeclaration(owner) || ts.isArrowFunction(owner) ? owner.parent : owner;
  const name = ts.getNameOfDeclaration(named as ts.Declaration);
  return name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) ? name : undefined;
}

function hasCode(node: ts.Node): node is ts.ObjectLiteralExpression {
  return (
    ts.isObjectLiteralExpression(node) &&
    node.properties.some(({ name }) => name !== undefined && ts.isIdentifier(name) && name.text === 'code')
  );
}

/** The interfaces and names of a type, without `undefined`. */
function symbolsOf(type: ts.Type | undefined): ts.Symbol[] {
  if (type === undefined) return [];
  const parts = type.isUnion() ? type.types : [type];
  return parts.flatMap((part) => {
    const found = part.aliasSymbol ?? part.getSymbol();
    return found === undefined || found.name === '__type' || found.name === '__object' ? [] : [found];
  });
}

function isCall(node: ts.Node): node is Call {
  return ts.isCallExpression(node) || ts.isNewExpression(node);
}

/** The name by which something is called: of the class where it is made, or where `super` makes it. */
function calleeOf(call: Call): ts.Node {
  const { expression } = call;
  if (expression.kind === ts.SyntaxKind.SuperKeyword) return extendedBy(call) ?? expression;
  return ts.isPropertyAccessExpression(expression) ? expression.name : expression;
}

function calledName(call: Call): string {
  return calleeOf(call).getText();
}

/** The class that the class around `node` extends. */
export function extendedBy(node: ts.Node): ts.Expression | undefined {
  const clauses = ts.findAncestor(node, ts.isClassLike)?.heritageClauses;
  return clauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression;
}

function fieldName(name: ts.BindingName | ts.PropertyName): string | undefined {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isNumericLiteral(name) ? name.text : undefined;
}

function unwrapped(node: ts.Expression): ts.Expression {
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return unwrapped(node.expression);
  return ts.isNonNullExpression(node) ? unwrapped(node.expression) : node;
}
