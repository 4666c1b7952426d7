import { type NodePath, types } from '@babel/core';

/** Replacement text for the node, or for the given range. */
export interface Change {
  readonly replacement: string;
  readonly range?: readonly [start: number, end: number];
}

/** Possible changes of a node; `text` returns the source text of a node. */
type Operator = (path: NodePath, text: (node: types.Node) => string) => Change[];

const OPPOSITES: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
};

/** Methods whose call can be replaced by their receiver. */
const PASSING =
  /^(filter|sort|toSorted|reverse|toReversed|trim|trimEnd|trimStart|slice|toLowerCase)$/;
const SWAPPED: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
  ['find', 'findLast'],
  ['at', 'indexOf'],
]);

/** Parts of messages for people, whose text is not behaviour. */
const WORDING = new Set(['fix', 'expected', 'found', 'description', 'message', 'explanation']);

export const OPERATORS: Readonly<Record<string, Operator>> = {
  condition: (path, text) =>
    isTest(path) && !isEquality(path.node) ? [{ replacement: `!(${text(path.node)})` }] : [],

  logical: ({ node }, text) =>
    types.isLogicalExpression(node)
      ? [node.left, node.right].map((side) => ({ replacement: `(${text(side)})` }))
      : [],

  comparison: (path, text) => {
    const { node } = path;
    if (!types.isBinaryExpression(node) || isText(node.left) || isText(node.right)) return [];
    const opposites = OPPOSITES[node.operator] ?? [];
    const wanted = isTest(path) ? opposites.slice(0, 1) : opposites;
    return wanted.map((operator) => ({
      replacement: `${text(node.left)} ${operator} ${text(node.right)}`,
    }));
  },

  negation: (path, text) =>
    types.isUnaryExpression(path.node, { operator: '!' }) && !isTest(path)
      ? [{ replacement: `(${text(path.node.argument)})` }]
      : [],

  boolean: ({ node }) =>
    types.isBooleanLiteral(node) ? [{ replacement: String(!node.value) }] : [],

  number: ({ node, parent }, text) => {
    if (!types.isNumericLiteral(node) || types.isTSLiteralType(parent)) return [];
    if (isLayout(node, parent)) return [];
    const other = otherNumber(node.value, text(node));
    return [{ replacement: other }];
  },

  string: ({ node, parent, key }) => {
    if (!types.isStringLiteral(node) || /\s/.test(node.value)) return [];
    const isKey = key === 'key' || (types.isMemberExpression(parent) && key === 'property');
    const isCovered = isEquality(parent) || types.isArrayExpression(parent);
    return isKey || isCovered ? [] : [{ replacement: "'mutated'" }];
  },

  statement: ({ node }) => {
    const removable =
      types.isExpressionStatement(node) ||
      types.isThrowStatement(node) ||
      types.isContinueStatement(node) ||
      types.isBreakStatement(node) ||
      types.isReturnStatement(node, { argument: null });
    return removable && !isSuperCall(node) ? [{ replacement: '{}' }] : [];
  },

  // Two effects in the other order.
  order: (path, text) => {
    const next = path.getSibling(typeof path.key === 'number' ? path.key + 1 : -1).node;
    if (!isAwaited(path.node) || !isAwaited(next)) return [];
    const [one, other] = [placeOf(path.node), placeOf(next)];
    if (one === undefined || other === undefined) return [];
    const replacement = `${text(next)} ${text(path.node)}`;
    return [{ replacement, range: [one[0], other[1]] }];
  },

  // The effect is begun, and nobody waits for its end or hears of its failure.
  await: ({ node }, text) =>
    isAwaited(node)
      ? [{ replacement: `void (${text(node.expression.argument)}).catch(() => undefined);` }]
      : [],

  // A grace, a count or a day less.
  boundary: ({ node, parent }, text) =>
    types.isNumericLiteral(node) &&
    !types.isTSLiteralType(parent) &&
    !isLayout(node, parent) &&
    Math.abs(node.value) <= 1000
      ? [smaller(node.value, text(node))].flatMap((replacement) =>
          replacement === undefined ? [] : [{ replacement }],
        )
      : [],

  element: ({ node }) =>
    types.isArrayExpression(node) ? withoutEach(node.elements.map(placeOf)) : [],

  property: ({ node }) => {
    if (!types.isObjectExpression(node)) return [];
    const removals = withoutEach(node.properties.map(placeOf));
    return removals.filter((_, index) => !isCoveredOtherwise(node.properties[index]));
  },

  result: ({ node }, text) => {
    const value = types.isReturnStatement(node)
      ? node.argument
      : types.isArrowFunctionExpression(node) && types.isExpression(node.body)
        ? node.body
        : undefined;
    if (value === undefined || value === null || isConstant(value)) return [];
    const results = isPredicate(value) ? ['true', 'false'] : ['undefined'];
    const place = placeOf(value);
    if (place === undefined || results.includes(text(value))) return [];
    return results.map((replacement) => ({ replacement, range: place }));
  },

  method: ({ node }, text) => {
    if (!types.isCallExpression(node) || !types.isMemberExpression(node.callee)) return [];
    const { object, property } = node.callee;
    if (!types.isIdentifier(property)) return [];
    if (PASSING.test(property.name)) return [{ replacement: text(object) }];
    const other = SWAPPED.get(property.name);
    const place = placeOf(property);
    return other === undefined || place === undefined ? [] : [{ replacement: other, range: place }];
  },
};

/** The number before: a boundary that is one too low. Undefined of those that are none: file modes, and 0. */
function smaller(value: number, written: string): string | undefined {
  return /^0o/i.test(written) || value < 1 ? undefined : String(value - 1);
}

/** A statement that waits for an effect, and does not use its result. */
function isAwaited(
  node: types.Node | null | undefined,
): node is types.ExpressionStatement & { expression: types.AwaitExpression } {
  return types.isExpressionStatement(node) && types.isAwaitExpression(node.expression);
}

/** A different number: the next small one, half as much again, or another file mode. */
function otherNumber(value: number, written: string): string {
  if (/^0o/i.test(written)) return `0o${(value ^ 0o044).toString(8)}`;
  if (Math.abs(value) <= 16) return String(value + 1);
  return String(Math.round(value * 1.5));
}

/** How far JSON.stringify indents: for people, who read it with any number of blanks. */
function isLayout(node: types.Node, parent: types.Node): boolean {
  return (
    types.isCallExpression(parent) &&
    types.matchesPattern(parent.callee, 'JSON.stringify') &&
    parent.arguments[2] === node
  );
}

function isTest({ parent, key }: NodePath): boolean {
  return key === 'test' && !types.isSwitchCase(parent);
}

function isEquality(node: types.Node): boolean {
  return types.isBinaryExpression(node) && /^[!=]==?$/.test(node.operator);
}

function isText(node: types.Node): boolean {
  return types.isStringLiteral(node) ? node.value === '' : types.isTemplateLiteral(node);
}

function isSuperCall(node: types.Node): boolean {
  return (
    types.isExpressionStatement(node) &&
    types.isCallExpression(node.expression) &&
    types.isSuper(node.expression.callee)
  );
}

/** Properties that are wording, or whose value has an equivalent mutant of its own. */
function isCoveredOtherwise(property: types.Node | undefined): boolean {
  if (!types.isObjectProperty(property)) return false;
  const { key, value } = property;
  return (types.isIdentifier(key) && WORDING.has(key.name)) || isConstant(value);
}

function isPredicate(node: types.Node): boolean {
  return (
    (types.isBinaryExpression(node) && /[<>=]/.test(node.operator)) ||
    (types.isLogicalExpression(node) && node.operator !== '??') ||
    types.isUnaryExpression(node, { operator: '!' })
  );
}

/** Literals are changed by other operators. */
function isConstant(node: types.Node): boolean {
  return types.isLiteral(node) && !types.isTemplateLiteral(node);
}

type Place = readonly [start: number, end: number];

function placeOf(node: types.Node | null): Place | undefined {
  if (typeof node?.start !== 'number' || typeof node.end !== 'number') return undefined;
  return [node.start, node.end];
}

/** The list without its first member, without its second and so on, each with its comma. */
function withoutEach(places: readonly (Place | undefined)[]): Change[] {
  return places.flatMap((place, index) => {
    if (place === undefined) return [];
    const next = places[index + 1];
    const previous = places[index - 1];
    if (next !== undefined) return [{ replacement: '', range: [place[0], next[0]] as const }];
    if (previous !== undefined)
      return [{ replacement: '', range: [previous[1], place[1]] as const }];
    return [{ replacement: '', range: place }];
  });
}
