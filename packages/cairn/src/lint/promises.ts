/** Follows a promise through the expressions and variables around it, to where it is awaited, returned or lost. */
import type { Scope, SourceCode } from 'eslint';
import { CALLS_AT_ONCE, type FlowCodeScan } from './flow-code.ts';
import {
  type CallSyntax,
  type FunctionSyntax,
  functionAround,
  importedFrom,
  methodOf,
  parentOf,
  type Syntax,
  unwrapped,
  variableOf,
  wrapped,
} from './syntax.ts';

/** `forEach`: a method that does not wait for its callback. `value`: the promise is used as if it were its value. */
export type PromiseUse = 'used' | 'lost' | 'forEach' | 'value';

/** Functions that make one promise of several, or of one. */
export const COMBINATORS: ReadonlySet<string> = new Set(
  ['all', 'allSettled', 'any', 'race', 'resolve'].map((name) => `Promise.${name}`),
);
const OF_PROMISES = new Set(['then', 'catch', 'finally']);
const MAKES_ARRAYS = new Set(['map', 'flatMap']);
const ADDS = new Set(['push', 'unshift', 'add']);

export class Promises {
  readonly #source: SourceCode;
  readonly #code: FlowCodeScan;
  readonly #followed = new Set<Scope.Variable>();

  constructor(source: SourceCode, code: FlowCodeScan) {
    this.#source = source;
    this.#code = code;
  }

  /**
   * An expression that is not understood uses the promise.
   *
   * @param isArray true for an array or object of promises, for which `await` does not wait
   */
  useOf(expression: Syntax, isArray = false): PromiseUse {
    const node = wrapped(expression);
    const parent = parentOf(node);
    switch (parent?.type) {
      case 'ExpressionStatement':
        return 'lost';
      case 'AwaitExpression':
      case 'ReturnStatement':
        return this.#useOfResult(functionAround(parent), isArray, parent.type === 'AwaitExpression');
      case 'ArrowFunctionExpression':
        return parent.body === node ? this.#useOfResult(parent, isArray) : 'used';
      case 'UnaryExpression':
        // `void` marks it as intended.
        return parent.operator === 'void' ? 'used' : 'value';
      case 'BinaryExpression':
      case 'TemplateLiteral':
      case 'IfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'SwitchStatement':
        return 'value';
      case 'ConditionalExpression':
        return parent.test === node ? 'value' : this.useOf(parent, isArray);
      case 'LogicalExpression':
        return this.useOf(parent, isArray);
      case 'SequenceExpression':
        return parent.expressions.at(-1) === node ? this.useOf(parent, isArray) : 'lost';
      case 'ArrayExpression':
      case 'SpreadElement':
        return this.useOf(parent, true);
      case 'Property':
        return this.useOf(parentOf(parent) ?? parent, true);
      case 'VariableDeclarator':
        return this.#useOfAssigned(parent.id, isArray);
      case 'AssignmentExpression':
        return parent.operator === '=' ? this.#useOfAssigned(parent.left, isArray) : 'used';
      case 'MemberExpression':
        return parent.object === node ? this.#useOfMember(parent, isArray) : 'used';
      case 'CallExpression':
        return parent.callee === node ? 'used' : this.#useOfArgument(parent);
      default:
        return 'used';
    }
  }

  /** @param isAwaited true if the function continues after it, so that only the promise of the function remains */
  #useOfResult(node: FunctionSyntax | undefined, isArray: boolean, isAwaited = false): PromiseUse {
    if (isArray && (isAwaited || (node && this.#code.isRoot(node)))) return 'value';
    return node && !this.#code.isRoot(node) ? this.#useOfCallback(node, isArray) : 'used';
  }

  /** Use of a callback's result by its caller. A named function is called elsewhere. */
  #useOfCallback(callback: FunctionSyntax, isArray: boolean): PromiseUse {
    const node = wrapped(callback);
    const call = parentOf(node);
    if (call?.type !== 'CallExpression') return 'used';
    if (call.callee === node) return this.useOf(call, isArray);
    const method = methodOf(call) ?? '';
    if (OF_PROMISES.has(method)) return this.useOf(call);
    if (method === 'from' && call.arguments[1] === node) return this.useOf(call, true);
    if (call.arguments[0] !== node || !CALLS_AT_ONCE.has(method)) return 'used';
    if (method === 'forEach') return 'forEach';
    if (MAKES_ARRAYS.has(method)) return this.useOf(call, true);
    return method.startsWith('reduce') ? 'used' : 'value';
  }

  #useOfAssigned(target: Syntax, isArray: boolean): PromiseUse {
    // Destructuring a promise does not give members of its value.
    if (target.type === 'ObjectPattern' || target.type === 'ArrayPattern') return isArray ? 'used' : 'value';
    const variable = target.type === 'Identifier' ? variableOf(this.#source, target) : undefined;
    if (!variable || this.#followed.has(variable)) return 'used';
    this.#followed.add(variable);
    const uses = variable.references
      .filter((reference) => reference.isRead())
      .map(({ identifier }) => this.useOf(identifier as Syntax, isArray));
    this.#followed.delete(variable);
    return uses.includes('used') ? 'used' : (uses.find((use) => use !== 'lost') ?? 'lost');
  }

  #useOfMember(member: Syntax, isArray: boolean): PromiseUse {
    if (isArray) return 'used';
    const callee = wrapped(member);
    const call = parentOf(callee);
    const isCalled = call?.type === 'CallExpression' && call.callee === callee;
    return isCalled && OF_PROMISES.has(methodOf(call) ?? '') ? this.useOf(call) : 'value';
  }

  #useOfArgument(call: CallSyntax): PromiseUse {
    if (COMBINATORS.has(importedFrom(this.#source, call.callee) ?? '')) return this.useOf(call);
    const callee = unwrapped(call.callee);
    if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return 'used';
    if (!ADDS.has(methodOf(call) ?? '')) return 'used';
    const { object } = callee;
    const list = variableOf(this.#source, object);
    const isRead = list?.references.some(({ identifier }) => !isOnlyAddedTo(identifier as Syntax));
    return list && list.references.length > 0 && !isRead ? 'lost' : 'used';
  }
}

/** True for `list` of `list.push(…)`, and for its declaration. */
function isOnlyAddedTo(identifier: Syntax): boolean {
  const parent = parentOf(identifier);
  if (parent?.type === 'VariableDeclarator') return parent.id === identifier;
  const call = parent?.type === 'MemberExpression' ? parentOf(parent) : undefined;
  return call?.type === 'CallExpression' && call.callee === parent && ADDS.has(methodOf(call) ?? '');
}
