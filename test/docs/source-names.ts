/** How what is put into a text at run time is called where the text is shown. */
import ts from 'typescript-api';

/** Words that say how something is put into a text, and nothing about what it is. */
const WRAPPERS =
  /^(?:String|Number|stringify|messageOf|printable|oneLine|describeIssues|prettifyError|quoted|shown|cut|cutText|join|map|slice|toString|trim|toSorted|replace|replaceAll|beginningOf|describe|format\w*)$/;

/** Whether a function only puts what it is given into words. */
export function isWrapper(callee: ts.Expression): boolean {
  return ts.isIdentifier(callee) && WRAPPERS.test(callee.text);
}

/** The name of what an expression is about; `…` when it has none. */
export function nameOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (node.kind === ts.SyntaxKind.ThisKeyword) return '…';
  if (ts.isPropertyAccessExpression(node)) return memberName(node);
  if (ts.isElementAccessExpression(node)) return nameOf(node.expression);
  if (ts.isCallExpression(node)) return callName(node);
  if (ts.isBinaryExpression(node)) return nameOf(node.left);
  if (
    ts.isNonNullExpression(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isAwaitExpression(node)
  )
    return nameOf(node.expression);
  if (ts.isConditionalExpression(node)) {
    const names = [nameOf(node.whenTrue), nameOf(node.whenFalse)].filter((name) => name !== '…');
    return names[0] ?? '…';
  }
  return '…';
}

function memberName({ expression, name }: ts.PropertyAccessExpression): string {
  const isVague = ['length', 'size', 'id', 'name', 'message', 'text', 'value', 'code', 'type'].includes(name.text);
  const holder = nameOf(expression);
  const own = name.text.replace('#', '');
  return isVague && holder !== '…' ? `${holder}.${own}` : own;
}

function callName(node: ts.CallExpression): string {
  const { expression } = node;
  if (ts.isPropertyAccessExpression(expression)) {
    const { name } = expression;
    const argument = node.arguments[0];
    if (['stringify', 'format', 'prettifyError'].includes(name.text) && argument !== undefined) return nameOf(argument);
    return WRAPPERS.test(name.text) ? nameOf(expression.expression) : name.text;
  }
  const argument = node.arguments[0];
  if (!ts.isIdentifier(expression)) return '…';
  return WRAPPERS.test(expression.text) && argument !== undefined
    ? nameOf(argument)
    : expression.text.replace(/Of$/, '');
}
