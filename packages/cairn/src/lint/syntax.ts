/**
 * Queries of a syntax tree: the name of an expression, the function around a node, the origin of a name. Trees of JavaScript
 * (ESTree) and of TypeScript, whose casts are ignored.
 *
 * Must not: know what a flow is.
 */
import type { Rule, Scope, SourceCode } from 'eslint';

/** A node of the parser; ESLint adds its parent. */
export type Syntax = Parameters<SourceCode['getScope']>[0];
export type CallSyntax = Extract<Syntax, { type: 'CallExpression' }>;
export type Identifier = Extract<Syntax, { type: 'Identifier' }>;
export type FunctionSyntax = Extract<
  Syntax,
  { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }
>;

/** Nodes around an expression that change only its type, or nothing. */
const WRAPPERS = new Set([
  'ChainExpression',
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSInstantiationExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
]);
const NO_CHILDREN = new Set(['parent', 'loc', 'range', 'tokens', 'comments']);

export function parentOf(node: Syntax): Syntax | undefined {
  return (node as Rule.Node).parent ?? undefined;
}

/** The expression without casts. */
export function unwrapped(node: Syntax): Syntax {
  return WRAPPERS.has(node.type) ? unwrapped((node as unknown as { expression: Syntax }).expression) : node;
}

/** The expression with the casts around it. */
export function wrapped(node: Syntax): Syntax {
  const parent = parentOf(node);
  return parent && WRAPPERS.has(parent.type) ? wrapped(parent) : node;
}

export function isFunction(node: Syntax | undefined): node is FunctionSyntax {
  return (
    node?.type === 'FunctionDeclaration' ||
    node?.type === 'FunctionExpression' ||
    node?.type === 'ArrowFunctionExpression'
  );
}

/** The innermost function around a node, which is not the node itself. */
export function functionAround(node: Syntax): FunctionSyntax | undefined {
  for (let at = parentOf(node); at; at = parentOf(at)) if (isFunction(at)) return at;
  return undefined;
}

/** The node and all below it. */
export function* nodesOf(source: SourceCode, root: Syntax): Generator<Syntax> {
  const pending: Syntax[] = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    yield node;
    const members = node as unknown as Readonly<Record<string, unknown>>;
    for (const key of source.visitorKeys[node.type] ?? Object.keys(members)) {
      if (NO_CHILDREN.has(key)) continue;
      const member = members[key];
      for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) pending.push(child);
    }
  }
}

function isNode(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function variableOf(source: SourceCode, node: Identifier): Scope.Variable | undefined {
  for (let scope: Scope.Scope | null = source.getScope(node); scope; scope = scope.upper) {
    const variable = scope.set.get(node.name);
    if (variable) return variable;
  }
  return undefined;
}

/** The function that an expression is or names; undefined if it is not in this file or is assigned more than once. */
export function functionOf(source: SourceCode, expression: Syntax): FunctionSyntax | undefined {
  const node = unwrapped(expression);
  if (isFunction(node)) return node;
  if (node.type !== 'Identifier') return undefined;
  const definition = definitionOf(variableOf(source, node));
  if (definition?.type === 'FunctionName') {
    return isFunction(definition.node as Syntax) ? (definition.node as FunctionSyntax) : undefined;
  }
  const initial = initialOf(variableOf(source, node));
  return initial && isFunction(unwrapped(initial)) ? (unwrapped(initial) as FunctionSyntax) : undefined;
}

/** Value that a `const` is declared with. */
export function initialOf(variable: Scope.Variable | undefined): Syntax | undefined {
  const definition = definitionOf(variable);
  if (definition?.type !== 'Variable' || definition.parent?.kind !== 'const') return undefined;
  return definition.node.id.type === 'Identifier' ? (definition.node.init ?? undefined) : undefined;
}

export function definitionOf(variable: Scope.Variable | undefined): Scope.Definition | undefined {
  return variable?.defs.length === 1 ? variable.defs[0] : undefined;
}

/** Name of a member that is written out: `a.b`, `a['b']`. */
export function memberName(node: Syntax): string | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : undefined;
  return node.property.type === 'Literal' ? String(node.property.value) : undefined;
}

/** Name of a method that is called on something: `then` of `a.then(b)`. */
export function methodOf({ callee }: CallSyntax): string | undefined {
  return memberName(unwrapped(callee));
}

/**
 * The origin of a value: `Date.now` of a global, `crypto:randomUUID` of a module, without `node:`. Undefined if the value is made
 * in this file.
 */
export function importedFrom(source: SourceCode, expression: Syntax): string | undefined {
  const node = unwrapped(expression);
  if (node.type === 'Identifier') return originOfName(source, node);
  const name = memberName(node);
  if (name === undefined || node.type !== 'MemberExpression') return undefined;
  const object = importedFrom(source, node.object);
  if (object === undefined) return undefined;
  return object === 'globalThis' ? name : object.endsWith(':') ? object + name : `${object}.${name}`;
}

function originOfName(source: SourceCode, node: Identifier): string | undefined {
  const variable = variableOf(source, node);
  if (!variable || variable.defs.length === 0) return node.name;
  const definition = definitionOf(variable);
  if (definition?.type !== 'ImportBinding') return undefined;
  const from = String(definition.parent.source.value).replace(/^node:/, '');
  const specifier = definition.node as Syntax;
  if (specifier.type !== 'ImportSpecifier') return `${from}:`;
  const { imported } = specifier;
  return `${from}:${imported.type === 'Identifier' ? imported.name : String(imported.value)}`;
}

export function propertyOf(object: Syntax, name: string): Syntax | undefined {
  if (object.type !== 'ObjectExpression') return undefined;
  for (const property of object.properties) {
    if (property.type !== 'Property' || property.computed) continue;
    const { key } = property;
    const is = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : '';
    if (is === name) return property.value;
  }
  return undefined;
}

/** The beginning of the source text, for a message. */
export function shortText(source: SourceCode, node: Syntax): string {
  const text = source.getText(node).replace(/\s+/g, ' ');
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
